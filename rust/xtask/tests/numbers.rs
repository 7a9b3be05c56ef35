//! Compares numbers of the documents with the constants that they describe.

use xshell::{Shell, cmd};

use crate::common::{read, root, words};

/// A constant: its file, its declaration, and the documents with the number as users read it.
type Number = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const PRIVACY: &str = "docs/privacy.md";
const JETBRAINS: &str = "docs/jetbrains.md";
const PROTOCOL: &str = "docs/editor-protocol.md";
const NEOVIM: &str = "docs/architecture/neovim.md";
const MESSAGES: &str = "plugin-kotlin/src/main/kotlin/dev/companion/gemini/core/ServerMessage.kt";
const HELP: &str = "editors/nvim/doc/gemini_companion.txt";

const NOTE: &str = "MAX_NOTE = 16_384";

const NUMBERS: [Number; 23] = [
    (
        "rust/companion-core/src/companion/limits.rs",
        "host_timeout: Duration::from_secs(30),",
        &[
            (PROTOCOL, "as the user would | 30 s |"),
            (HELP, "a key for 30 s"),
            (NEOVIM, "after 30 s"),
        ],
    ),
    (
        "rust/companion-server/src/hooks/changes/mod.rs",
        "MAX_BYTES: usize = 32 << 20;",
        &[(PRIVACY, "32 MB"), (JETBRAINS, "32 MB"), (PROTOCOL, "32 MB")],
    ),
    (
        "rust/companion-server/src/hooks/changes/mod.rs",
        "MAX_PROMPTS: usize = 200;",
        &[(PRIVACY, "200 prompts"), (JETBRAINS, "200 prompts"), (PROTOCOL, "200 prompts")],
    ),
    (
        "rust/companion-server/src/hooks/changes/mod.rs",
        "MAX_AGE: Duration = Duration::from_hours(24);",
        &[(PRIVACY, "one day"), (JETBRAINS, "one day"), (PROTOCOL, "one day")],
    ),
    (
        "rust/companion-server/src/hooks/changes/file_text.rs",
        "MAX_FILE: u64 = 4 << 20;",
        &[(PROTOCOL, "up to 4 MB")],
    ),
    (
        "rust/companion-server/src/hooks/event.rs",
        "MAX_TITLE: usize = 100;",
        &[(PRIVACY, "100 characters"), (PROTOCOL, "100 characters")],
    ),
    (
        "rust/companion-server/src/hooks/event.rs",
        "MAX_MESSAGE: usize = 200;",
        &[(PROTOCOL, "200 characters")],
    ),
    (
        "rust/companion-server/src/hooks/original.rs",
        "MAX_ORIGINAL: usize = 32 << 10;",
        &[("docs/architecture/bridge.md", "32 KB"), (HELP, "32 KB")],
    ),
    (
        "rust/companion-server/src/hooks/upkeep.rs",
        "PRIVATE_CHECK_INTERVAL: Duration = Duration::from_mins(15);",
        &[(PRIVACY, "15 minutes")],
    ),
    (
        "rust/companion-server/src/privacy/watched.rs",
        "POLL_INTERVAL: Duration = Duration::from_secs(10);",
        &[(PRIVACY, "within ten")],
    ),
    (
        "rust/companion-server/src/resume/slots.rs",
        "MAX_NOTES_AGE: Duration = Duration::from_hours(30 * 24);",
        &[(PRIVACY, "30 days"), (HELP, "30 days")],
    ),
    (
        "rust/companion-server/src/hooks/comments.rs",
        "MAX_ID: usize = 64;",
        &[(PROTOCOL, "at most 64 bytes")],
    ),
    (
        "rust/companion-core/src/notes.rs",
        "MAX_AGE: Duration = Duration::from_hours(24);",
        &[(PRIVACY, "24 hours")],
    ),
    (
        "rust/companion-protocol/src/ide.rs",
        "MAX_SELECTED_TEXT: usize = 16_384;",
        &[
            ("README.md", "16,384"),
            (PRIVACY, "16,384"),
            (JETBRAINS, "16,384"),
            (HELP, "16,384"),
            // The editors cut the text before they send it.
            (MESSAGES, "MAX_SELECTION = 16_384"),
            ("editors/nvim/lua/gemini_companion/selection.lua", "MAX_BYTES = 3 * 16384"),
        ],
    ),
    // The plugin sends no text that the server would cut.
    (
        "rust/companion-server/src/hooks/rejection.rs",
        "MAX_REASON: usize = 16_384;",
        &[(MESSAGES, NOTE)],
    ),
    (
        "rust/companion-server/src/hooks/comments.rs",
        "MAX_TEXT: usize = 16_384;",
        &[(MESSAGES, NOTE)],
    ),
    (
        "rust/companion-protocol/src/ide.rs",
        "MAX_OPEN_FILES: usize = 10;",
        &[("README.md", "last ten"), (PRIVACY, "last ten"), (HELP, "last ten")],
    ),
    (
        "rust/companion-cli/src/bridge/mod.rs",
        "STARTUP_WAIT: Duration = Duration::from_secs(3);",
        &[("docs/remote.md", "3 seconds"), ("docs/troubleshooting.md", "3 seconds")],
    ),
    (
        "rust/companion-cli/src/bridge/mod.rs",
        "RECONNECT_WAIT: Duration = Duration::from_secs(10);",
        &[("docs/remote.md", "10 seconds")],
    ),
    (
        "plugin-kotlin/src/main/kotlin/dev/companion/gemini/changes/ChangesTree.kt",
        "MAX_UNGROUPED = 30",
        &[(JETBRAINS, "30 files")],
    ),
    (
        "editors/nvim/lua/gemini_companion/hunks.lua",
        "MAX_LINES = 100000",
        &[(JETBRAINS, "100,000 lines"), (HELP, "100,000 lines")],
    ),
    (
        "editors/nvim/lua/gemini_companion/windows.lua",
        "MAX_MARKED = 3000",
        &[(HELP, "3,000 changes"), (NEOVIM, "3,000")],
    ),
    (
        "editors/nvim/lua/gemini_companion/diff.lua",
        "OPEN_TIMEOUT_MS = 25000",
        &[(HELP, "25 s"), (NEOVIM, "25 s")],
    ),
];

#[test]
fn the_manuals_have_the_numbers_of_the_code() {
    for (file, constant, documents) in NUMBERS {
        assert!(words(file).contains(constant), "{file} has no {constant}: correct {documents:?}");
        for (document, number) in documents {
            assert!(words(document).contains(number), "{document} lacks {number:?}, from {file}");
        }
    }
}

/// Bounds that no user meets, so that no document has them.
const INTERNAL: [(&str, &str); 38] = [
    ("rust/companion-cli/src/bridge/keeper.rs", "MAX_RETRY_DELAY"),
    ("rust/companion-cli/src/mcp.rs", "MAX_SEARCH_INTERVAL"),
    ("rust/companion-client/src/diagnose/env_file.rs", "MAX_FILE"),
    ("rust/companion-client/src/diagnose/facts.rs", "MAX_ASKED"),
    ("rust/companion-client/src/diagnose/probe.rs", "MAX_SHOWN"),
    ("rust/companion-client/src/discover/ide_process.rs", "MAX_DEPTH"),
    ("rust/companion-client/src/discover/workspace.rs", "MAX_DEPTH"),
    ("rust/companion-client/src/http/connection.rs", "MAX_REFUSAL"),
    ("rust/companion-client/src/http/hook.rs", "MAX_WITHOUT_SIGN"),
    ("rust/companion-platform/src/ancestors.rs", "MAX_ANCESTORS"),
    ("rust/companion-platform/src/ancestors.rs", "MAX_NAME"),
    ("rust/companion-platform/src/program.rs", "MAX_OUTPUT"),
    ("rust/companion-core/src/calls.rs", "MAX_REQUEST_ID"),
    ("rust/companion-core/src/cli/state.rs", "MAX_EARLIER"),
    ("rust/companion-core/src/diffs/outbox.rs", "MAX_SETTLING"),
    ("rust/companion-core/src/notes.rs", "MAX_CONFIRMED"),
    ("rust/companion-core/src/notes.rs", "MAX_DELIVERED"),
    ("rust/companion-server/src/hooks/changes/tool_calls.rs", "MAX_BYTES_OF_CALLS"),
    ("rust/companion-server/src/hooks/changes/tool_calls.rs", "MAX_CALLS"),
    ("rust/companion-server/src/hooks/changes/mod.rs", "MAX_SUBAGENTS"),
    ("rust/companion-server/src/hooks/changes/revert.rs", "MAX_NAMED"),
    ("rust/companion-server/src/hooks/event.rs", "MAX_PATH"),
    ("rust/companion-server/src/hooks/event.rs", "MAX_SESSION"),
    ("rust/companion-server/src/diagnostics/known.rs", "MAX_FILES"),
    ("rust/companion-server/src/diagnostics/known.rs", "MAX_PROBLEMS"),
    ("rust/companion-server/src/discovery/keeper.rs", "MAX_RETRY_DELAY"),
    ("rust/companion-server/src/disk/paths.rs", "MAX_PATH"),
    ("rust/companion-server/src/disk/written.rs", "MAX_BYTES_OF_CHARACTER"),
    ("rust/companion-server/src/hand_over.rs", "MAX_WAITS"),
    ("rust/companion-server/src/http/route.rs", "MAX_EVENT_HERE"),
    ("rust/companion-server/src/http/route.rs", "MAX_HOOK_BODY"),
    ("rust/companion-server/src/privacy/files.rs", "MAX_CHANGES"),
    ("rust/companion-server/src/privacy/files.rs", "MAX_LOGGED_LINES"),
    ("rust/companion-server/src/privacy/mod.rs", "MAX_SHOWN_RULE"),
    ("rust/companion-server/src/privacy/watched.rs", "MAX_CHAINED_LINKS"),
    ("rust/companion-server/src/resume/file.rs", "MAX_WRITTEN"),
    ("rust/companion-server/src/resume/slots.rs", "MAX_CLOCK_ADVANCE"),
    ("rust/companion-server/src/session/mod.rs", "MAX_WAKES"),
];

const LIMITS: &str = "docs/architecture/limits.md";

/// A line that declares a bound.
const DECLARATION: &str = "^ *(pub|pub\\([a-z]+\\))? ?const MAX_[A-Z_]+:";

/// The same in Kotlin and Lua.
const PLUGIN_DECLARATION: &str =
    "^ *((private|internal) )?const val MAX_[A-Z_]+ =|^local MAX_[A-Z_]+ =";

/// The bounds that the tables of limits.md name, each with its file and its row.
fn documented_bounds(limits: &str) -> Vec<(&str, &str, &str)> {
    let mut bounds = Vec::new();
    for row in limits.lines().filter(|line| line.starts_with("| ")) {
        let mut file = "";
        for code in row.split('`').skip(1).step_by(2) {
            if code.contains('/') {
                file = code;
            } else if !file.is_empty() && code.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
            {
                bounds.push((file, code, row));
            }
        }
    }
    bounds
}

/// The value of a constant in Rust, Kotlin or Lua; `None` if the file only uses it.
fn value<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    source.lines().find_map(|line| {
        let (declared, value) = line.split_once(" = ")?;
        let declared = declared.split(':').next()?;
        let is_it = declared.contains("const ") || declared.starts_with("local ");
        (is_it && declared.ends_with(&format!(" {name}"))).then(|| value.trim_end_matches(';'))
    })
}

/// The forms in which a document writes a value; empty if it depends on others.
fn written(value: &str) -> Vec<String> {
    if let Some((unit, number)) = value
        .strip_prefix("Duration::from_")
        .and_then(|value| value.trim_end_matches(')').split_once('('))
    {
        return match unit {
            "millis" => {
                let seconds = number.parse::<f64>().unwrap() / 1000.0;
                vec![format!("{number} ms"), format!("{seconds} s")]
            }
            "secs" => vec![format!("{number} s")],
            "mins" => vec![format!("{number} min")],
            _ => vec![format!("{number} {unit}")],
        };
    }
    let (number, shift) = value.split_once(" << ").unwrap_or((value, "0"));
    let (Ok(number), Ok(shift)) = (number.replace('_', "").parse::<u64>(), shift.parse::<u32>())
    else {
        return Vec::new();
    };
    let number = number << shift;
    let with_comma = |number: u64| match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", number / 1000, number % 1000),
    };
    let units = [(1, ""), (1 << 10, " KB"), (1 << 20, " MB"), (1000, " s")];
    let exact = units.into_iter().filter(|(size, _)| number % size == 0);
    exact.map(|(size, unit)| with_comma(number / size) + unit).collect()
}

#[test]
fn the_page_of_limits_has_the_numbers_of_the_code() {
    let root = root();
    let source = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
    let limits = source(LIMITS);
    let mut checked = 0;
    for (file, name, row) in documented_bounds(&limits) {
        let source = source(file);
        let forms = value(&source, name).map(written).unwrap_or_default();
        let words: Vec<_> =
            row.split_whitespace().map(|word| word.trim_end_matches([',', ';'])).collect();
        let words = words.join(" ");
        let is_there = |form: &String| words.contains(&format!(" {form} "));
        assert!(forms.is_empty() || forms.iter().any(is_there), "{name} in {file}: {row}");
        checked += usize::from(!forms.is_empty());
    }
    assert!(checked > 50, "only {checked} bounds were compared");
}

/// Returns the bounds in folders whose declarations match `pattern`: file, name and value.
fn bounds_in(pattern: &str, folders: &[String]) -> Vec<(String, String, String)> {
    let root = root();
    let sh = Shell::new().unwrap();
    sh.change_dir(&root);
    let found = cmd!(sh, "git grep --extended-regexp {pattern} -- {folders...}").quiet().read();
    let found = found.unwrap();
    let mut bounds = Vec::new();
    for (file, line) in found.lines().filter_map(|line| line.split_once(':')) {
        if file.contains("/tests") {
            continue;
        }
        let (declared, value) = line.split_once(" =").unwrap();
        let name = declared.split(':').next().unwrap().rsplit(' ').next().unwrap();
        let value = value.trim().trim_end_matches(';').replace('_', "");
        bounds.push((file.to_owned(), name.to_owned(), value));
    }
    bounds
}

/// A new bound of the server, the program or the protocol is in a document, unless no user meets
/// it. So is one of a plugin that repeats it: then the page of limits compares both.
#[test]
fn each_bound_is_documented_or_internal() {
    let limits = read(LIMITS);
    let mut known: Vec<_> =
        documented_bounds(&limits).into_iter().map(|(file, name, _)| (file, name)).collect();
    for (file, declaration, _) in NUMBERS {
        known.push((file, declaration.split([':', ' ']).next().unwrap()));
    }
    let in_rust = bounds_in(
        DECLARATION,
        &["cli", "client", "core", "platform", "protocol", "server", "setup"]
            .map(|name| format!("rust/companion-{name}/src")),
    );
    let in_plugins = bounds_in(
        PLUGIN_DECLARATION,
        &["plugin-kotlin/src/main", "editors/nvim/lua"].map(str::to_owned),
    );
    let repeated = in_plugins.iter().filter(|(_, name, value)| {
        in_rust.iter().any(|(_, same, equal)| (same, equal) == (name, value))
    });
    let unknown: Vec<_> =
        repeated.filter(|(file, name, _)| !known.contains(&(file, name))).collect();
    assert!(unknown.is_empty(), "{LIMITS} lacks bounds that a plugin repeats: {unknown:#?}");
    for bound in INTERNAL {
        assert!(!known.contains(&bound), "{bound:?} is in a document");
        known.push(bound);
    }
    let mut bounds: Vec<_> = in_rust.iter().map(|(file, name, _)| (&**file, &**name)).collect();
    assert!(bounds.len() > 50, "only {} bounds were found", bounds.len());
    let gone = INTERNAL.iter().find(|bound| !bounds.contains(bound));
    assert_eq!(gone, None, "INTERNAL lists a bound that is not there");
    bounds.retain(|bound| !known.contains(bound));
    assert!(bounds.is_empty(), "{LIMITS} or INTERNAL lacks: {bounds:#?}");
}
