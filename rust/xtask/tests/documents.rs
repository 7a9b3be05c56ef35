//! Checks the documents: their length, and that the named files exist.

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::common::{files, read, root};

/// The help of the Neovim plugin.
const HELP: &str = "editors/nvim/doc/gemini_companion.txt";

fn documents() -> Vec<(PathBuf, String)> {
    files(&[".md"]).into_iter().map(|(file, text)| (root().join(file), text)).collect()
}

#[test]
fn a_reader_gets_through_the_first_documents() {
    for (file, max_lines) in [("README.md", 130), ("ARCHITECTURE.md", 250), ("SECURITY.md", 40)] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        let lines = text.lines().count();
        assert!(lines <= max_lines, "{file} has {lines} lines, more than {max_lines}");
    }
}

/// A reader of the source sees whole lines. Tables and code have no breaks. A line of the help fits into 80
/// columns, unless it ends with a tag or a link, whose marks Neovim hides.
#[test]
fn lines_are_short() {
    const DOCUMENT: usize = 140;
    const IN_HELP: usize = 79;
    let mut long = Vec::new();
    for (path, text) in documents() {
        let mut in_code = false;
        for (number, line) in (1..).zip(text.lines()) {
            let is_fence = line.trim_start().starts_with("```");
            in_code ^= is_fence;
            let is_prose = !in_code && !is_fence && !line.starts_with('|') && line.contains(' ');
            if is_prose && line.chars().count() > DOCUMENT {
                long.push(format!("{}:{number}", path.display()));
            }
        }
    }
    for (number, line) in (1..).zip(read(HELP).lines()) {
        if line.chars().count() > IN_HELP && !line.ends_with(['*', '|']) {
            long.push(format!("{HELP}:{number}"));
        }
    }
    assert!(long.is_empty(), "break these lines: {long:?}");
}

/// Returns the part of a link that leads to a heading, as GitHub forms it.
fn anchor(heading: &str) -> String {
    let kept =
        heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn links_between_documents_lead_to_files_and_headings() {
    let mut headings = 0;
    for (file, text) in documents() {
        for link in text.split("](").skip(1) {
            let link = link.split(')').next().unwrap();
            let (target, heading) = link.split_once('#').unwrap_or((link, ""));
            if target.starts_with("http") || target.contains(char::is_whitespace) {
                continue;
            }
            let path = file.parent().unwrap().join(target);
            let path = if target.is_empty() { &file } else { &path };
            assert!(path.exists(), "{} links to {link}", file.display());
            if heading.is_empty() {
                continue;
            }
            let page = std::fs::read_to_string(path).unwrap();
            let mut lines = page.lines().filter(|line| line.starts_with('#'));
            let is_there = lines.any(|line| anchor(line.trim_start_matches('#')) == heading);
            assert!(is_there, "{} links to {link}", file.display());
            headings += 1;
        }
    }
    assert!(headings > 20, "only {headings} links to headings were found");
}

/// Returns the keys of a Lua table that begins with the line `head`, at the first level.
fn lua_keys<'a>(text: &'a str, head: &str) -> Vec<&'a str> {
    let (_, table) = text.split_once(head).unwrap();
    let (table, _) = table.split_once("\n}").unwrap();
    let mut keys = Vec::new();
    for line in table.lines() {
        let Some((key, _)) = line.strip_prefix("  ").and_then(|line| line.split_once(" = ")) else {
            continue;
        };
        if !key.starts_with(char::is_whitespace) {
            keys.push(key);
        }
    }
    keys
}

/// The manual of the JetBrains plugin has a row for each setting.
#[test]
fn the_manual_has_all_settings_of_the_plugin() {
    let bundle = read("plugin-kotlin/src/main/resources/messages/CompanionBundle.properties");
    let manual = read("docs/jetbrains.md");
    let mut settings = 0;
    for line in bundle.lines().filter_map(|line| line.strip_prefix("settings.")) {
        let (key, label) = line.split_once('=').unwrap();
        let is_page = key == "name" || key == "project.name";
        let name = key.strip_prefix("project.").unwrap_or(key);
        if is_page || name.contains('.') {
            continue;
        }
        let label = label.replace('&', "").replace("\\u2019", "'");
        let row = format!("| {} |", label.trim_end_matches(':'));
        assert!(manual.contains(&row), "docs/jetbrains.md has no row for {label}");
        settings += 1;
    }
    assert!(settings > 10, "only {settings} settings were found");
}

/// Writes a shortcut of the default keymap as the manual does. Keymaps of macOS have ⌘ in place of Ctrl.
fn shown_keys(stroke: &str, modifiers: [(&str, &str); 3]) -> String {
    let mut shown = String::new();
    for word in stroke.split(' ') {
        match modifiers.iter().find(|(name, _)| *name == word) {
            Some((_, sign)) => shown += sign,
            None if word.len() == 1 => shown += word,
            None => {
                let words =
                    word.split('_').map(|word| word[..1].to_owned() + &word[1..].to_lowercase());
                shown += &words.collect::<Vec<_>>().join(" ");
            }
        }
    }
    shown
}

/// Each action has its texts. The manual of the JetBrains plugin has a row for each one with a shortcut.
#[test]
fn the_manual_has_all_shortcuts_of_the_plugin() {
    let bundle = read("plugin-kotlin/src/main/resources/messages/CompanionBundle.properties");
    let registration = read("plugin-kotlin/src/main/resources/META-INF/companion.xml");
    let manual = read("docs/jetbrains.md");
    let (_, table) = manual.split_once("\n## Shortcuts\n").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let rows: Vec<Vec<_>> = table.lines().map(|line| line.split(" | ").collect()).collect();
    let mut shortcuts = 0;
    for action in registration.split("<action id=\"").skip(1) {
        let (id, rest) = action.split_once('"').unwrap();
        let keys = rest.split_once("first-keystroke=\"").map(|(_, keys)| keys);
        let keys = keys.map(|keys| keys.split('"').next().unwrap());
        let text = |part| {
            let prefix = format!("\naction.{id}.{part}=");
            let (_, text) = bundle.split_once(&prefix).unwrap_or_else(|| panic!("{prefix}"));
            text.lines().next().unwrap()
        };
        let name = text("text").trim_end_matches("\\u2026");
        text("description");
        if keys.is_none() && !rest.contains("use-shortcut-of") {
            continue;
        }
        let names =
            |row: &Vec<&str>| row[0].trim_start_matches("| ").split(", ").any(|one| one == name);
        let row = rows
            .iter()
            .find(|row| names(row))
            .unwrap_or_else(|| panic!("docs/jetbrains.md has no shortcut of {name}"));
        if let Some(keys) = keys {
            let windows = [("control", "Ctrl+"), ("alt", "Alt+"), ("shift", "Shift+")];
            assert_eq!(row[1], shown_keys(keys, windows), "{name}");
            let mac = [("control", "⌘"), ("alt", "⌥"), ("shift", "⇧")];
            assert_eq!(row[2], shown_keys(keys, mac) + " |", "{name}");
        }
        shortcuts += 1;
    }
    assert!(shortcuts > 8, "only {shortcuts} shortcuts were found");
}

/// The help of the Neovim plugin has a paragraph for each option and each command, and the defaults
/// of the code. Its types have each option, for the language servers of users.
#[test]
fn the_help_has_all_options_and_commands_of_the_plugin() {
    let help = read(HELP);
    let config = read("editors/nvim/lua/gemini_companion/config.lua");
    let (_, shown) = help.split_once("These are the defaults: >").unwrap();
    let (shown, _) = shown.split_once("\n<").unwrap();
    let options = lua_keys(&config, "local OPTIONS = {");
    let types = read("editors/nvim/lua/gemini_companion/types.lua");
    for option in &options {
        assert!(types.contains(&format!("\n---@field {option}? ")), "type of {option}");
        assert!(help.contains(&format!("*gemini_companion-{option}*")), "option {option}");
        assert!(shown.contains(&format!("\n      {option} = ")), "default of {option}");
    }
    let (_, defaults) = config.split_once("local defaults = {").unwrap();
    let (defaults, _) = defaults.split_once("\n}").unwrap();
    for line in defaults.lines().skip(1) {
        assert!(shown.contains(&format!("\n    {line}\n")), "the help has another default: {line}");
    }
    let commands = read("editors/nvim/lua/gemini_companion/commands.lua");
    let commands = lua_keys(&commands, "local commands = {");
    for command in &commands {
        assert!(help.contains(&format!("*:GeminiCompanion-{command}*")), "command {command}");
    }
    assert!(options.len() > 10 && commands.len() > 20, "{options:?} {commands:?}");
}

/// The Neovim plugin uses each of its options, and gives the server each option of `serve` that it does not
/// leave out on purpose.
#[test]
fn the_neovim_plugin_uses_all_options() {
    // A Neovim needs no fixed port, listens on loopback only, and takes the default limit.
    const LEFT_OUT: [&str; 6] = [
        "--port",
        "--listen",
        "--listen-on-all-addresses",
        "--allow-host",
        "--body-limit",
        "--help",
    ];
    const MODULES: &str = "editors/nvim/lua/gemini_companion/";
    let modules = files(&[".lua"]).into_iter().filter(|(file, _)| {
        file.starts_with(MODULES) && !file.ends_with("/config.lua") && !file.ends_with("/types.lua")
    });
    let code: String = modules.map(|(_, text)| text).collect();
    let config = read(&format!("{MODULES}config.lua"));
    for option in lua_keys(&config, "local OPTIONS = {") {
        let is_used = has_name(&code, &format!("options.{option}"));
        assert!(is_used, "no module uses the option {option}");
    }
    let help = read("rust/companion-cli/tests/snapshots/all__command_line__serve_help.snap");
    let server = read(&format!("{MODULES}server.lua"));
    let mut options = 0;
    for line in help.lines().map(|line| line.trim_start().trim_start_matches("-h, ")) {
        let option = line.split([' ', '.']).next().unwrap();
        if option.len() > 3 && option.starts_with("--") && !LEFT_OUT.contains(&option) {
            assert!(server.contains(&format!("'{option}'")), "Neovim does not pass {option}");
            options += 1;
        }
    }
    assert!(options > 12, "only {options} options were found");
}

/// The help has each event that the Neovim plugin announces to user autocommands.
#[test]
fn the_help_has_all_events_of_the_plugin() {
    let help = read(HELP);
    let mut events = 0;
    for module in std::fs::read_dir(root().join("editors/nvim/lua/gemini_companion")).unwrap() {
        let code = std::fs::read_to_string(module.unwrap().path()).unwrap();
        for start in ["announce('", "run_autocommands('"] {
            for event in code.split(start).skip(1) {
                let event = event.split('\'').next().unwrap();
                assert!(help.contains(&format!("*{event}*")), "the help lacks {event}");
                events += 1;
            }
        }
    }
    assert!(events > 2, "only {events} events were found");
}

/// The help has each public function of the Neovim plugin.
#[test]
fn the_help_has_all_functions_of_the_plugin() {
    let help = read(HELP);
    let code = read("editors/nvim/lua/gemini_companion/init.lua");
    let functions = code.split("\nfunction M.").skip(1).map(|rest| rest.split('(').next().unwrap());
    // The plugin itself calls that one.
    let functions: Vec<_> = functions.filter(|function| *function != "autostart").collect();
    for function in &functions {
        assert!(help.contains(&format!("*gemini_companion.{function}()*")), "{function}");
    }
    assert!(functions.len() > 10, "{functions:?}");
}

/// The documents, the help and the Neovim plugin name only commands that exist.
#[test]
fn commands_of_neovim_exist() {
    let code = read("editors/nvim/lua/gemini_companion/commands.lua");
    let commands = lua_keys(&code, "local commands = {");
    let mut texts = documents();
    texts.push((PathBuf::from(HELP), read(HELP)));
    texts.push((PathBuf::from("commands.lua"), code.clone()));
    for (file, text) in texts {
        for rest in text.split(":GeminiCompanion ").skip(1) {
            let end = rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(rest.len());
            let name = &rest[..end];
            assert!(
                name.is_empty() || commands.contains(&name),
                "{} names :GeminiCompanion {name}",
                file.display()
            );
        }
    }
}

/// The page about the Neovim plugin names each of its modules.
#[test]
fn the_page_about_the_neovim_plugin_names_all_modules() {
    let page = read("docs/architecture/neovim.md");
    let folder = root().join("editors/nvim/lua/gemini_companion");
    for module in std::fs::read_dir(folder).unwrap() {
        let file = module.unwrap().file_name().into_string().unwrap();
        let name = file.trim_end_matches(".lua");
        assert!(page.contains(&format!("`{name}`")), "docs/architecture/neovim.md lacks {name}");
    }
}

/// The tests of the invariants exist: a name in the last column is that of a test in Rust or e2e.
#[test]
fn the_tests_of_the_invariants_exist() {
    let page = read("ARCHITECTURE.md");
    let (_, table) = page.split_once("| # | Invariant | Owner | Test |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let sh = Shell::new().unwrap();
    sh.change_dir(root());
    let mut tests = 0;
    for row in table.lines() {
        let last = row.trim_end_matches(" |").rsplit("| ").next().unwrap();
        for name in last.split('`').skip(1).step_by(2) {
            let search = if name.contains('/') {
                cmd!(sh, "git ls-files *{name}*")
            } else {
                cmd!(sh, "git grep --fixed-strings --files-with-matches {name} -- *.rs *.mjs")
            };
            let found = search.ignore_status().quiet().read().unwrap();
            assert!(!found.is_empty(), "ARCHITECTURE.md names the test {name}");
            tests += 1;
        }
    }
    assert!(tests > 10, "only {tests} tests were found");
}

/// The documents about the architecture, as lines without breaks, and with their names.
fn architecture() -> impl Iterator<Item = (String, String)> {
    documents().into_iter().filter_map(|(file, text)| {
        let name = file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let is_one = name == "ARCHITECTURE.md" || name.starts_with("docs/architecture");
        is_one.then(|| (name, text.split_whitespace().collect::<Vec<_>>().join(" ")))
    })
}

/// Short names of folders: `srv/` is a folder's name in the table that begins with *Short*.
fn short_names(text: &str) -> Vec<(&str, &str)> {
    let table = text.split_once("| Short | Folder |").map_or("", |(_, table)| table);
    let cells: Vec<_> = table.split('`').skip(1).step_by(2).collect();
    let pairs = cells.chunks_exact(2).map(|pair| (pair[0], pair[1]));
    pairs.take_while(|(name, folder)| name.ends_with('/') && folder.ends_with('/')).collect()
}

/// The file or folder that `code` names from the root of the repository, by its short name or not.
fn path(code: &str, short: &[(&str, &str)]) -> Option<PathBuf> {
    const FOLDERS: [&str; 9] = [
        ".github/",
        "docs/",
        "e2e/",
        "editors/",
        "extension/",
        "npm/",
        "plugin-kotlin/",
        "rust/",
        "tools/",
    ];
    if code.contains(char::is_whitespace) {
        return None;
    }
    if FOLDERS.iter().any(|folder| code.starts_with(folder)) {
        return Some(root().join(code));
    }
    let (name, folder) = short.iter().find(|(name, _)| code.starts_with(name))?;
    Some(root().join(folder).join(&code[name.len()..]))
}

/// The recipes and tables name files and folders.
#[test]
fn paths_in_the_architecture_exist() {
    let mut paths = 0;
    for (name, text) in architecture() {
        let short = short_names(&text);
        for code in text.split('`').skip(1).step_by(2) {
            if let Some(path) = path(code, &short) {
                assert!(path.exists(), "{name} names {code}");
                paths += 1;
            }
        }
    }
    assert!(paths > 300, "only {paths} paths were found");
}

/// The text of a source file without comments of whole lines, and without imports and re-exports: a
/// reader who follows a name wants its code.
fn own_code(path: &Path, text: &str) -> String {
    // The beginnings and the end of an import.
    let (begins, end): (&[&str], &str) = match path.extension().and_then(|name| name.to_str()) {
        Some("rs") => (&["use ", "pub use ", "pub(crate) use ", "pub(super) use "], ";"),
        Some("kt") => (&["import "], ""),
        _ => return text.to_owned(),
    };
    let mut goes_on = false;
    let is_own = |line: &&str| {
        let line = line.trim();
        let is_import = goes_on || begins.iter().any(|begin| line.starts_with(begin));
        goes_on = is_import && !line.ends_with(end);
        !is_import && !line.starts_with("//")
    };
    text.lines().filter(is_own).collect::<Vec<_>>().join("\n")
}

/// Whether the text has the name as whole words: `reject` is not in `rejected`.
fn has_name(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let begins = name.starts_with(is_word);
    let ends = name.ends_with(is_word);
    text.match_indices(name).any(|(at, _)| {
        let is_begin = !begins || !text[..at].ends_with(is_word);
        is_begin && !(ends && text[at + name.len()..].starts_with(is_word))
    })
}

/// A name in parentheses behind a path occurs in the file: `srv/server.rs` (`apply`). A comment, an
/// import or a re-export does not count.
#[test]
fn names_behind_paths_in_the_architecture_occur_in_their_files() {
    let mut names = 0;
    for (document, text) in architecture() {
        let short = short_names(&text);
        let parts: Vec<_> = text.split('`').collect();
        for (at, code) in parts.iter().enumerate().skip(1).step_by(2) {
            let Some(path) = path(code, &short) else { continue };
            let Some(mut between) = parts[at + 1].strip_prefix(" (") else { continue };
            let mut next = at + 2;
            while !between.contains(')') && next + 1 < parts.len() {
                let name = parts[next];
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                // A folder contains the names of its files.
                let occurs = path.join(name).exists() || has_name(&own_code(&path, &text), name);
                assert!(occurs, "{document}: {code} does not contain {name}");
                names += 1;
                between = parts[next + 1];
                next += 2;
            }
        }
    }
    assert!(names > 200, "only {names} names were found");
}

/// The title of a recipe names models, which a reader searches.
#[test]
fn the_models_of_the_recipes_exist() {
    let recipes = read("docs/architecture/recipes.md");
    let sh = Shell::new().unwrap();
    sh.change_dir(root());
    let mut models = 0;
    for title in recipes.lines().filter_map(|line| line.strip_prefix("**")) {
        let Some((_, names)) = title.split_once("** (") else { continue };
        let (names, _) = names.split_once(')').unwrap();
        for name in names.split('`').skip(1).step_by(2) {
            let found = cmd!(
                sh,
                "git grep --word-regexp --fixed-strings {name} -- *.rs *.kt *.lua *.mjs *.md"
            );
            let found = found.ignore_status().quiet().read().unwrap();
            let lines = found.lines().count();
            assert!(lines > 0, "no file has {name}: {title}");
            assert!(lines < 100, "{name} is on {lines} lines, which nobody reads: {title}");
            models += 1;
        }
    }
    assert!(models > 12, "only {models} models were found");
}

#[test]
fn an_import_is_no_place_of_a_name() {
    let rust = own_code(
        Path::new("a.rs"),
        "use a::{\n    b,\n};\npub(crate) use c::d;\n/// e\nfn f() { g::h() }",
    );
    assert_eq!(rust, "fn f() { g::h() }");
    assert!(has_name(&rust, "f") && has_name(&rust, "g::") && !has_name("rejected", "reject"));
    assert_eq!(own_code(Path::new("a.kt"), "import a.b\nclass C"), "class C");
}
