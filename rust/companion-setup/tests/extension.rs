//! Tests that setup installs the extension where a client loads it, and removes it. `e2e` tests
//! that the real clients load it.

use std::fs;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use crate::common::write_program;
use crate::common::{Made, below, outcomes, write};
use companion_setup::{Os, Outcome, Package, Report};

const SUBJECT: &str = "Extension for Gemini CLI";

/// Creates a machine with a client whose IDE mode is on.
fn made() -> Made {
    let mut made = Made::new(Os::Linux);
    made.set("PATH", made.root("empty"));
    write(made.home(".gemini/settings.json"), "{\"ide\": {\"enabled\": true}}");
    made.clients[0].extensions = Some(made.home(".gemini/extensions"));
    made
}

/// Creates such a machine, runs setup, and returns it with the package.
fn installed() -> (Made, Package) {
    let made = made();
    let package = made.package("1.0");
    made.carry_out(&package);
    (made, package)
}

fn target(made: &Made) -> PathBuf {
    made.home(".gemini/extensions/gemini-companion")
}

fn step(report: &Report) -> (Outcome, &Path, &str) {
    let step = report.steps.iter().find(|step| step.subject == SUBJECT).unwrap();
    (step.outcome, &step.path, &step.message)
}

#[test]
fn it_is_what_the_sources_have_and_goes_without_a_trace() {
    let made = made();
    let messages = made.live(&made.package("1.0"), SUBJECT, |dir| {
        assert_eq!(dir, target(&made));
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../extension");
        assert_eq!(below(dir), below(&sources));
        let beside = fs::read_dir(made.home(".gemini")).unwrap().count();
        assert_eq!(beside, 2, "nothing is left beside it");
    });
    assert_eq!(
        messages[0],
        "install hooks, which pass prompts, answers and tool calls to the companion, and a tool"
    );
}

/// Returns a value of a JSON file in the extension.
fn value(made: &Made, file: &str, pointer: &str) -> String {
    let text = fs::read_to_string(target(made).join(file)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json.pointer(pointer).unwrap().as_str().unwrap().to_owned()
}

#[cfg(unix)]
#[test]
fn it_names_the_program_wherever_terminals_look() {
    let mut made = made();
    made.machine.home = made.root("home/it's me");
    fs::create_dir_all(&made.machine.home).unwrap();
    made.clients[0].extensions = Some(made.home(".gemini/extensions"));
    made.program = Some(write(made.root("npx/gemini-companion"), "1.0"));
    let package = made.package("1.0");
    made.carry_out(&package);
    let program = made.home(".local/bin/gemini-companion").to_str().unwrap().to_owned();
    for file in ["gemini-extension.json", "qwen-extension.json"] {
        assert_eq!(value(&made, file, "/mcpServers/gemini-companion/command"), program);
    }
    let quoted = program.replace("it's", r"it'\''s");
    for (moment, tool) in [("before-tool", "BeforeTool"), ("after-tool", "AfterTool")] {
        let hook = value(&made, "hooks/hooks.json", &format!("/hooks/{tool}/0/hooks/0/command"));
        assert_eq!(hook, format!("'{quoted}' hook {moment} 2>$null; exit 0"));
    }
    for (moment, tool) in [("before-tool", "PreToolUse"), ("after-tool", "PostToolUse")] {
        let hook =
            value(&made, "hooks/qwen-code.json", &format!("/hooks/{tool}/0/hooks/0/command"));
        assert_eq!(hook, format!("'{quoted}' hook {moment} || exit 0"));
    }
    assert_eq!(step(&made.carry_out(&package)).0, Outcome::Unchanged);
}

#[cfg(unix)]
#[test]
fn powershell_is_given_a_command_that_it_can_call() {
    let mut made = Made::new(Os::Windows);
    made.clients[0].extensions = Some(made.home(".gemini/extensions"));
    made.program = Some(write(made.root("npx/gemini-companion.exe"), "1.0"));
    made.carry_out(&made.package("1.0"));
    let program = made.home(".local/bin/gemini-companion.exe");
    let hook = value(&made, "hooks/hooks.json", "/hooks/AfterTool/0/hooks/0/command");
    assert_eq!(hook, format!("& '{}' hook after-tool 2>$null; exit 0", program.display()));
    let hook = value(&made, "hooks/qwen-code.json", "/hooks/PostToolUse/0/hooks/0/command");
    assert_eq!(hook, "gemini-companion hook after-tool || exit 0");
}

#[cfg(unix)]
#[test]
fn where_npm_has_installed_the_program_it_names_that_and_not_its_launcher() {
    let mut made = made();
    let modules = "npm/lib/node_modules/gemini-companion";
    let launcher = write_program(made.root(modules).join("gemini-companion.js"), "");
    let program = made.root(modules).join("node_modules/gemini-companion-linux-x64");
    let program = write(program.join("gemini-companion"), "");
    fs::create_dir_all(made.root("npm/bin")).unwrap();
    std::os::unix::fs::symlink(launcher, made.root("npm/bin/gemini-companion")).unwrap();
    made.set("PATH", made.root("npm/bin"));
    made.program = Some(program.clone());
    made.carry_out(&made.package("1.0"));
    let command = "/mcpServers/gemini-companion/command";
    assert_eq!(value(&made, "gemini-extension.json", command), program.to_str().unwrap());

    // A program that npx has fetched may be deleted later.
    made.program = Some(write(made.root("npx/node_modules/x/gemini-companion"), ""));
    made.carry_out(&made.package("1.0"));
    let found = made.root("npm/bin/gemini-companion");
    assert_eq!(value(&made, "gemini-extension.json", command), found.to_str().unwrap());

    // The folder that fnm adds to the PATH ends with the shell.
    let shell = made.root("run/fnm_multishells/7");
    fs::create_dir_all(shell.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(made.root("npm"), &shell).unwrap();
    made.set("PATH", shell.join("bin"));
    made.carry_out(&made.package("1.0"));
    assert_eq!(value(&made, "gemini-extension.json", command), found.to_str().unwrap());
}

#[test]
fn a_client_that_would_not_run_the_hooks_is_named_each_time() {
    let mut made = made();
    made.clients[0].hooks_off = Some("they are off in FILE".to_owned());
    let package = made.package("1.0");
    let (plan, done, again) =
        (made.plan(&package), made.carry_out(&package), made.carry_out(&package));
    for report in [&plan, &done, &again] {
        let note = ", but Gemini CLI does not run all hooks: they are off in FILE";
        assert!(step(report).2.ends_with(note), "{report}");
    }
    write(target(&made).join(".gemini-extension-install.json"), "{}");
    assert!(step(&made.carry_out(&package)).2.ends_with("they are off in FILE"));
}

#[test]
fn a_client_that_would_not_start_with_it_does_not_get_it() {
    let mut made = made();
    made.clients[0].refuses_copies = Some("it would not start".to_owned());
    let package = made.package("1.0");
    let before = made.files();
    for report in [made.plan(&package), made.carry_out(&package)] {
        assert_eq!(step(&report), (Outcome::Skipped, &*target(&made), "it would not start"));
    }
    assert_eq!(made.files(), before);
}

#[cfg(unix)]
#[test]
fn a_link_to_nowhere_in_place_of_its_folder_is_named() {
    let made = made();
    std::os::unix::fs::symlink("nowhere", made.home(".gemini/extensions")).unwrap();
    for report in [made.plan(&made.package("1.0")), made.carry_out(&made.package("1.0"))] {
        let (outcome, _, message) = step(&report);
        assert_eq!(outcome, Outcome::Failed);
        assert!(message.contains("extensions is a link to nowhere, which does not"), "{message}");
    }
}

#[test]
fn one_that_its_user_has_stays() {
    let (made, package) = installed();
    // The user has removed the extension by the client, and installed it again.
    write(target(&made).join(".gemini-extension-install.json"), "{}");
    let theirs = made.files();
    assert_eq!(
        step(&made.carry_out(&package)),
        (Outcome::Unchanged, &*target(&made), "you installed it")
    );
    assert_eq!(outcomes(&made.remove()), [(SUBJECT, Outcome::Unchanged)]);
    let rest: Vec<_> =
        theirs.into_iter().filter(|(path, _)| path.starts_with(target(&made))).collect();
    assert!(!rest.is_empty() && rest.iter().all(|(path, _)| path.exists()));
}

#[test]
fn one_that_has_lost_its_manifest_stays_as_the_users_change() {
    let (made, package) = installed();
    fs::remove_file(target(&made).join("gemini-extension.json")).unwrap();
    let report = made.carry_out(&package);
    assert_eq!(step(&report).0, Outcome::Skipped, "{report}");
    assert!(step(&report).2.starts_with("you changed it, so it stays; "), "{report}");
}

/// The clients' `extensions link` writes no other file into the folder.
#[test]
fn one_that_its_user_has_linked_stays() {
    let made = made();
    write(target(&made).join(".gemini-extension-install.json"), "{}");
    let report = made.carry_out(&made.package("1.0"));
    assert_eq!(step(&report), (Outcome::Unchanged, &*target(&made), "you installed it"));
}

#[test]
fn one_that_its_user_has_removed_stays_away() {
    let (made, package) = installed();
    fs::remove_dir_all(target(&made)).unwrap();
    for report in [made.plan(&package), made.carry_out(&package)] {
        assert_eq!(step(&report).0, Outcome::Skipped, "{report}");
        assert!(step(&report).2.contains("setup --remove"), "{report}");
        assert!(!target(&made).exists());
    }
    assert_eq!(outcomes(&made.remove()), [(SUBJECT, Outcome::Unchanged)]);
    assert_eq!(step(&made.carry_out(&package)).0, Outcome::Done);
}

#[test]
fn a_run_that_was_ended_before_it_put_the_files_there_is_made_up_for() {
    let (made, package) = installed();
    fs::remove_dir_all(target(&made)).unwrap();
    made.set_pending();
    assert_eq!(step(&made.carry_out(&package)).0, Outcome::Done);
    assert!(target(&made).exists());
}

#[test]
fn setups_at_once_forget_nothing() {
    for _ in 0..10 {
        let made = made();
        let settings = write(made.home(".gemini/settings.json"), "{}");
        let package = made.package("1.0");
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| made.carry_out(&package));
            }
        });
        made.remove();
        assert!(!made.home(".gemini/extensions").exists());
        assert_eq!(fs::read_to_string(settings).unwrap(), "{}");
        assert!(!made.home(".local").exists(), "nothing lies around");
    }
}
