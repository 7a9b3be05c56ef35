//! Checks house rules that no other tool checks.

use std::collections::BTreeMap;

use xshell::{Shell, cmd};

use crate::common::{files, read, root};

/// A newcomer can read a file of this length in one go.
const MAX_LINES: usize = 500;

/// Whether a file is of the product: neither of tests or examples, nor of the developer's commands, which
/// are only for Debian.
fn is_product(file: &str) -> bool {
    const ELSEWHERE: [&str; 8] =
        ["tests", "tests.rs", "test", "ideTest", "robot", "robot183", "robotCurrent", "examples"];
    !["rust/xtask/", "e2e/", "tools/"].iter().any(|folder| file.starts_with(folder))
        && !file.split('/').any(|part| ELSEWHERE.contains(&part))
}

/// Returns the part of a Rust file before its tests.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default()
}

fn dependencies(krate: &str) -> Vec<String> {
    let sh = Shell::new().unwrap();
    sh.change_dir(root());
    let options =
        ["--edges", "normal,build", "--depth", "1", "--prefix", "none", "--format", "{lib}"];
    let tree = cmd!(sh, "cargo tree --offline --quiet --package {krate} {options...}");
    let tree = tree.quiet().read().unwrap();
    tree.lines().skip(1).map(|line| line.replace('_', "-")).collect()
}

/// Checks the layers: cli, jni → server, client, setup → core, protocol, platform, and nothing else.
#[test]
fn arrows_between_crates_point_one_way() {
    let crates = std::fs::read_dir(root().join("rust")).unwrap();
    for krate in crates.map(|entry| entry.unwrap().file_name().into_string().unwrap()) {
        let allowed: &[&str] = match krate.as_str() {
            "companion-protocol" | "companion-platform" | "xtask" => &[],
            "companion-core" => &["companion-protocol"],
            "companion-server" => &[
                "companion-core",
                "companion-platform",
                "companion-protocol",
                "hyper",
                "hyper-util",
                "tokio",
                "tokio-util",
            ],
            "companion-client" => &[
                "companion-platform",
                "companion-protocol",
                "hyper",
                "hyper-util",
                "tokio",
                "tokio-util",
            ],
            "companion-setup" => &["companion-platform", "companion-protocol"],
            "companion-cli" => &[
                "companion-server",
                "companion-client",
                "companion-setup",
                "companion-platform",
                "companion-protocol",
                "env-logger",
                "clap",
                "tokio",
            ],
            "companion-jni" => {
                &["companion-server", "companion-client", "companion-protocol", "jni"]
            }
            other => panic!("say here what {other} may depend on"),
        };
        let guarded = [
            "companion-core",
            "companion-platform",
            "companion-protocol",
            "companion-server",
            "companion-client",
            "companion-setup",
            "companion-cli",
            "hyper",
            "hyper-util",
            "tokio",
            "tokio-util",
            "jni",
            "env-logger",
        ];
        for dependency in dependencies(&krate) {
            let fine =
                !guarded.contains(&dependency.as_str()) || allowed.contains(&dependency.as_str());
            assert!(fine, "{krate} must not depend on {dependency}");
        }
    }
}

/// The core decides, and does nothing else: a caller has the clock, the disk, the threads and the locks.
#[test]
fn the_core_does_no_io() {
    let forbidden = [
        "tokio",
        "std::fs",
        "std::net",
        "std::thread",
        "std::process",
        "Instant",
        "SystemTime",
        "Mutex",
        "RwLock",
        "Semaphore",
        "Notify",
        "log::",
    ];
    let core =
        files(&[".rs"]).into_iter().filter(|(file, _)| file.starts_with("rust/companion-core/src"));
    let mut count = 0;
    for (file, text) in core {
        for name in forbidden {
            assert!(!text.contains(name), "{file} has {name}");
        }
        count += 1;
    }
    assert!(count > 0, "no file was looked at");
}

/// The layers of the server's modules, the lowest first. A module uses only layers below its own.
const LAYERS: [&[&str]; 15] = [
    &["clock", "config", "lifecycle", "runtime", "signal"],
    &["discovery", "disk", "journal", "net"],
    &["monitor", "privacy"],
    &["workspace"],
    &["host", "worktrees"],
    &["session"],
    &["driver"],
    &["clients", "context", "resume"],
    &["diagnostics"],
    &["hooks"],
    &["mcp"],
    &["http"],
    &["parts"],
    &["hand_over", "shutdown"],
    &["server", "tests"],
];

#[test]
fn arrows_between_modules_of_the_server_point_one_way() {
    const SOURCE: &str = "rust/companion-server/src/";
    let all = files(&[".rs"]);
    let lib = all.iter().find(|(file, _)| file.strip_prefix(SOURCE) == Some("lib.rs"));
    let declared = lib.unwrap().1.lines().filter_map(|line| line.strip_prefix("mod "));
    let mut declared: Vec<_> = declared.map(|name| name.trim_end_matches(';')).collect();
    let mut listed = LAYERS.concat();
    declared.sort_unstable();
    listed.sort_unstable();
    assert_eq!(declared, listed, "say here what a module may use");
    let layer = |module: &str| LAYERS.iter().position(|layer| layer.contains(&module));

    let mut arrows = 0;
    for (file, text) in &all {
        let Some(path) = file.strip_prefix(SOURCE).filter(|path| *path != "lib.rs") else {
            continue;
        };
        // A test may use any module.
        if path.split('/').any(|part| ["tests", "tests.rs"].contains(&part)) {
            continue;
        }
        let module = path.split('/').next().unwrap().trim_end_matches(".rs");
        let root = "super::".repeat(path.trim_end_matches("/mod.rs").split('/').count());
        let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for (number, line) in product.lines().enumerate() {
            let code = line.split("//").next().unwrap();
            assert!(!code.contains(&root), "{file}:{}: begin with crate::", number + 1);
            for used in code.split("crate::").skip(1) {
                let used = used.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
                let place = format!("{file}:{}", number + 1);
                assert!(layer(used).is_some(), "{place} names no module");
                let fine = used == module || layer(used) < layer(module);
                assert!(fine, "{place}: {module} must not use {used}");
                arrows += usize::from(used != module);
            }
        }
    }
    assert!(arrows > 0, "no arrow was looked at");
}

/// The packages of the plugin, each after those that it may import, so there is no circle. A package
/// that may import any may also import [`COMMON`].
const PACKAGES: [(&str, &[&str]); 14] = [
    ("gemini", &[]),
    ("core", &[]),
    ("platform", &["core"]),
    ("disk", &["core"]),
    ("context", &["core"]),
    ("diagnostics", &["core"]),
    ("terminal", &["core"]),
    ("target", &["core"]),
    ("tabs", &["core", "target"]),
    ("review", &["core", "tabs", "target"]),
    ("comments", &["core", "review", "tabs", "target"]),
    ("changes", &["core", "target"]),
    (
        "project",
        &["core", "changes", "comments", "context", "diagnostics", "review", "target", "terminal"],
    ),
    ("ui", &["core", "changes", "comments", "project", "review", "tabs", "target", "terminal"]),
];

/// The texts, the files on the disk, and the differences between platforms.
const COMMON: [&str; 3] = ["CompanionBundle", "disk", "platform"];

#[test]
fn arrows_between_packages_point_one_way() {
    const PRODUCT: &str = "dev.companion.gemini.";
    for (index, (package, allowed)) in PACKAGES.iter().enumerate() {
        for other in *allowed {
            assert!(PACKAGES[..index].iter().any(|(name, _)| name == other), "{package}, {other}");
        }
    }
    let mut packages = 0;
    for (file, text) in files(&[".kt"]) {
        let parts: Vec<&str> = file.split('/').collect();
        let ["plugin-kotlin", "src", "main" | "current" | "platform183", .., package, _] =
            parts[..]
        else {
            continue;
        };
        let known = PACKAGES.iter().find(|(name, _)| *name == package);
        let Some((_, allowed)) = known else { panic!("say here what {package} may import") };
        packages += 1;
        let imports = text.lines().filter_map(|line| line.strip_prefix("import "));
        for import in imports.filter_map(|import| import.strip_prefix(PRODUCT)) {
            let from = import.split('.').next().unwrap();
            let is_common = !allowed.is_empty() && COMMON.contains(&from);
            assert!(is_common || allowed.contains(&from), "{file} must not import {import}");
        }
        let natives = text.lines().any(|line| line.trim_start().starts_with("external fun"));
        assert!(!natives || package == "core", "{file} has natives");
    }
    assert!(packages > 0, "no package was looked at");
}

#[test]
fn files_are_short_and_begin_with_a_comment() {
    for (file, text) in files(&[".rs", ".mjs", ".kt", ".lua", ".py"]) {
        let lines = text.lines().count();
        assert!(lines <= MAX_LINES, "{file} has {lines} lines");
        let first = text.lines().find(|line| !line.starts_with("#!/")).unwrap_or_default();
        let comment = ["//! ", "// ", "/**", "-- ", "# ", "\"\"\""];
        assert!(
            comment.iter().any(|c| first.starts_with(c)),
            "{file} does not begin with a comment"
        );
    }
}

/// One program has the tests of a crate, and Cargo finds no other files.
#[test]
fn each_file_of_tests_belongs_to_a_test_program() {
    for (file, _) in files(&[".rs"]) {
        let Some((krate, name)) = file.split_once("/tests/") else { continue };
        let is_whole = krate.matches('/').count() == 1 && !name.contains('/') && name != "main.rs";
        if !is_whole {
            continue;
        }
        let manifest = read(&format!("{krate}/Cargo.toml"));
        if !manifest.contains("autotests = false") || manifest.contains(name) {
            continue;
        }
        let declared = format!("\nmod {};", name.trim_end_matches(".rs"));
        let main = read(&format!("{krate}/tests/main.rs"));
        assert!(main.contains(&declared), "{file} is in no test program");
    }
}

#[test]
fn nothing_is_left_for_later() {
    // Put together, so that this file does not match itself.
    let markers = [["TO", "DO"], ["FIX", "ME"], ["XX", "X"]].map(|parts| parts.concat());
    for (file, text) in files(&[".rs", ".mjs", ".kt", ".lua", ".py", ".sh", ".toml", ".kts", ".md"])
    {
        // Only as whole words: identifiers of the platform contain some of them.
        for word in text.split(|c: char| !c.is_alphanumeric()) {
            assert!(!markers.iter().any(|marker| marker == word), "{file} contains {word}");
        }
    }
}

#[test]
fn no_merge_is_half_done() {
    for (file, text) in files(&[""]) {
        let mark = |line: &str| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ");
        assert!(!text.lines().any(mark), "{file} has the marks of a merge");
    }
}

/// Code that compiles on only one system is in one place. `cfg!` compiles on all systems.
#[test]
fn what_differs_between_systems_is_in_one_place() {
    const SPLITS: [&str; 7] = [
        "cfg(unix",
        "cfg(not(unix",
        "cfg(windows",
        "cfg(not(windows",
        "cfg(target_",
        "std::os::unix",
        "std::os::windows",
    ];
    let elsewhere = |file: &str| file.starts_with("rust/companion-platform/src/");
    let files = files(&[".rs"]);
    assert!(!files.is_empty());
    for (file, text) in files.iter().filter(|(file, _)| is_product(file) && !elsewhere(file)) {
        for split in SPLITS {
            assert!(!without_tests(text).contains(split), "{file} has `{split}`");
        }
    }
}

/// For each attack, the threat model names the tests that show its result: a file, then names in
/// backticks.
#[test]
fn the_tests_that_the_threat_model_names_exist() {
    let model = std::fs::read_to_string(root().join("docs/architecture/threat-model.md")).unwrap();
    let mut tests = 0;
    for item in model.split("\n- [").skip(1) {
        let item = item.split("\n\n").next().unwrap();
        let (_, rest) = item.split_once("](").unwrap();
        let (file, names) = rest.split_once("):").unwrap();
        let text = std::fs::read_to_string(root().join("docs/architecture").join(file));
        let text = text.unwrap_or_else(|error| panic!("{file}: {error}"));
        for name in names.split('`').skip(1).step_by(2) {
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            let ways = [("fn ", "("), ("'", "'"), ("\"", "\""), ("`", "`")];
            let there = ways.iter().any(|(a, b)| text.contains(&format!("{a}{name}{b}")));
            assert!(there, "{file} has no test `{name}`");
            tests += 1;
        }
    }
    assert!(tests > 0, "no test was looked for");
}

/// The files of the product that start other programs, and which.
const PROGRAMS: [(&str, &str); 10] = [
    ("editors/nvim/lua/gemini_companion/health.lua", "gemini-companion"),
    ("editors/nvim/lua/gemini_companion/prompt.lua", "ps"),
    ("editors/nvim/lua/gemini_companion/server.lua", "gemini-companion"),
    ("rust/companion-cli/src/container/mod.rs", "docker, podman"),
    ("rust/companion-client/src/diagnose/facts.rs", "getconf"),
    ("rust/companion-client/src/diagnose/probe.rs", "the command of GEMINI_CLI_IDE_SERVER_STDIO"),
    ("rust/companion-platform/src/ancestors.rs", "ps"),
    ("rust/companion-platform/src/program.rs", "gemini-companion, for its version"),
    ("rust/companion-platform/src/unix.rs", "ps"),
    ("rust/companion-setup/src/neovim.rs", "nvim"),
];

/// A repository with hostile contents may decide what a program does, Git above all.
#[test]
fn no_other_file_starts_a_program() {
    const STARTS: [&str; 8] = [
        "Command::new(",
        "ProcessBuilder",
        "GeneralCommandLine",
        "getRuntime().exec",
        "fn.jobstart",
        "fn.system",
        "vim.system",
        "uv.spawn",
    ];
    let mut found = Vec::new();
    for (file, text) in files(&[".rs", ".kt", ".java", ".lua"]) {
        let product = without_tests(&text).replace("clap::Command::new(", "");
        if is_product(&file) && STARTS.iter().any(|start| product.contains(start)) {
            found.push(file);
        }
    }
    found.sort();
    let known: Vec<_> = PROGRAMS.iter().map(|(file, _)| *file).collect();
    assert_eq!(
        found, known,
        "see docs/privacy.md and docs/architecture/threat-model.md, then PROGRAMS"
    );
}

/// In a dark theme the platform shows the dark icon, and in the new UI the mapped one. It reports
/// none that is missing.
#[test]
fn each_icon_has_its_forms() {
    const RESOURCES: [&str; 2] = [
        "plugin-kotlin/src/main/resources/icons/",
        "plugin-kotlin/src/current/resources/icons/expui/",
    ];
    let icons: BTreeMap<_, _> = files(&[".svg"]).into_iter().collect();
    let mappings = read("plugin-kotlin/src/current/resources/CompanionIconMappings.json");
    let mappings: serde_json::Value = serde_json::from_str(&mappings).unwrap();
    let of = |folder: &'static str| {
        let names =
            icons.keys().filter_map(move |file| file.strip_prefix(folder)?.strip_suffix(".svg"));
        names.filter(|name| !name.ends_with("_dark"))
    };
    for folder in RESOURCES {
        for name in of(folder) {
            let dark = icons.get(&format!("{folder}{name}_dark.svg"));
            let [light, dark] = [&icons[&format!("{folder}{name}.svg")], dark.expect(name)];
            assert_eq!(light.lines().next(), dark.lines().next(), "the size of {name}");
            assert_ne!(light, dark, "{name}");
        }
    }
    for name in of(RESOURCES[0]) {
        assert_eq!(mappings["icons"]["expui"][format!("{name}.svg")], format!("icons/{name}.svg"));
        assert!(icons.contains_key(&format!("{}{name}.svg", RESOURCES[1])), "{name} in the new UI");
    }
}
