//! Tests that neither a killed run nor a removal leaves anything, and that a record which setup can't
//! read is named.

// Other systems' machines use paths of this system.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Made, outcomes, write, write_program};
use companion_setup::{Documents, Installed, Os, Outcome, Setup};

const SETTINGS: &str = "{ \"a\": 1 }\n";

/// Creates a machine with an IDE, Neovim, shells and a client.
fn made() -> Made {
    let mut made = Made::new(Os::Linux);
    Made::ide(&made.root("opt/idea"), "IntelliJ IDEA", "251.1", "IntelliJIdea2025.1");
    for name in ["nvim", "bash", "fish", "man"] {
        write_program(made.root("usr/bin").join(name), "");
    }
    fs::create_dir_all(made.root("usr/share/bash-completion")).unwrap();
    let path = [made.root("usr/bin"), made.home(".local/bin")];
    made.set("PATH", path.map(|dir| dir.to_str().unwrap().to_owned()).join(":"));
    made.program = Some(write_program(made.root("npx/gemini-companion"), "program"));
    let text = |text: &str| text.to_owned();
    made.documents = Some(Documents { bash: text("b"), fish: text("f"), man: text("m") });
    write(made.home(".gemini/settings.json"), SETTINGS);
    made.clients[0].extensions = Some(made.home(".gemini/extensions"));
    made
}

/// Returns the folders where an installation has temporary files.
fn staging(made: &Made) -> Vec<PathBuf> {
    let dirs = [
        ".local/share/JetBrains/IntelliJIdea2025.1",
        ".local/share/nvim/site/pack/companion",
        ".local/share/bash-completion/completions",
        ".local/share/fish/vendor_completions.d",
        ".local/share/man/man1",
        ".local/state/companion-for-gemini-cli",
        ".local/bin",
        ".gemini",
    ];
    dirs.map(|dir| made.home(dir)).to_vec()
}

/// Leaves temporary files and folders, as a run that is killed does.
fn leave(made: &Made) -> Vec<PathBuf> {
    let mut left = Vec::new();
    for dir in staging(made) {
        left.push(write(dir.join(".companion-setupAbc/new/file"), "of the run"));
        left.push(write(dir.join(".companion-setupXyz"), "a copy of settings"));
    }
    left
}

#[test]
fn the_next_run_deletes_the_files_of_a_killed_one() {
    let made = made();
    let package = made.package("1.0");
    made.carry_out(&package);
    let before = made.files();
    let left = leave(&made);
    made.plan(&package);
    assert!(left.iter().all(|path| path.exists()), "a plan touches nothing");
    made.carry_out(&package);
    assert_eq!(made.files(), before);
}

#[test]
fn a_removal_deletes_them_and_every_folder() {
    let made = made();
    let before = made.files();
    let report = made.carry_out(&made.package("1.0"));
    assert!(report.steps.iter().all(|step| step.outcome == Outcome::Done), "{report}");
    assert_eq!(report.steps.len(), 8, "{report}");
    leave(&made);
    // A run was killed before it installed anything.
    made.set_pending();
    made.remove();
    assert_eq!(made.files(), before);
}

#[test]
fn a_run_that_was_killed_before_its_first_step_leaves_no_folder() {
    let made = made();
    let before = made.files();
    write(made.record().with_extension("lock"), "");
    let dirs = [".local", ".local/state", ".local/state/companion-for-gemini-cli"];
    let dirs = dirs.map(|dir| made.home(dir).to_str().unwrap().to_owned());
    write(made.record(), &serde_json::json!({ "dirs": dirs, "items": [] }).to_string());
    assert_eq!(outcomes(&made.remove()), []);
    assert_eq!(made.files(), before);
}

#[test]
fn a_removal_that_was_killed_at_its_end_is_finished_by_the_next() {
    let made = made();
    let before = made.files();
    let dirs = [".local", ".local/state", ".local/state/companion-for-gemini-cli"];
    let dirs = dirs.map(|dir| made.home(dir));
    for left in &dirs {
        fs::create_dir_all(left).unwrap();
        let list = serde_json::json!({ "dirs": dirs, "items": [] });
        write(made.home(".companion-setup-left.json"), &list.to_string());
        assert_eq!(outcomes(&made.remove()), []);
        assert_eq!(made.files(), before, "{}", left.display());
    }
}

#[test]
fn a_removal_that_was_killed_between_the_folders_of_an_item_is_finished_by_the_next() {
    let made = made();
    let before = made.files();
    made.carry_out(&made.package("1.0"));
    for gone in [".local/share/nvim/site/pack/companion", ".gemini/extensions"] {
        fs::remove_dir_all(made.home(gone)).unwrap();
    }
    made.remove();
    assert_eq!(made.files(), before);
}

#[test]
fn a_home_folder_that_has_another_name_at_the_removal_is_the_same() {
    let mut made = made();
    std::os::unix::fs::symlink(made.home(""), made.root("link")).unwrap();
    let before = made.files();
    let homes = [made.root("link"), made.home("../me é"), made.machine.home.clone()];
    for (number, first) in homes.iter().enumerate() {
        let second = &homes[(number + 1) % homes.len()];
        made.machine.home.clone_from(first);
        made.carry_out(&made.package("1.0"));
        made.machine.home.clone_from(second);
        made.remove();
        assert_eq!(made.files(), before, "{} {}", first.display(), second.display());
    }
}

#[test]
fn folders_of_the_user_stay_though_they_are_empty() {
    let made = made();
    fs::create_dir_all(made.home(".local/share")).unwrap();
    fs::create_dir(made.root("disk")).unwrap();
    fs::create_dir_all(made.home(".local/state")).unwrap();
    let link = made.home(".local/state/companion-for-gemini-cli");
    std::os::unix::fs::symlink(made.root("disk"), link).unwrap();
    let before = made.files();
    made.carry_out(&made.package("1.0"));
    made.remove();
    assert_eq!(made.files(), before);
}

#[test]
fn a_relative_path_is_refused() {
    let mut made = made();
    made.set("XDG_DATA_HOME", "relative");
    for report in [made.plan(&made.package("1.0")), made.carry_out(&made.package("1.0"))] {
        let step = report.steps.iter().find(|step| step.subject == "Neovim").unwrap();
        assert_eq!(step.outcome, Outcome::Failed, "{report}");
        assert!(step.message.contains("is a relative path"), "{report}");
    }
    assert!(!Path::new("relative").exists());
}

#[test]
fn the_only_copy_of_an_item_outlives_a_failure() {
    let made = made();
    let package = made.package("1.0");
    made.carry_out(&package);
    let plugins = made.home(".local/share/JetBrains/IntelliJIdea2025.1");
    let target = plugins.join("companion-for-gemini-cli");
    // A run was killed after it had moved the old plugin away. The next one fails.
    let away = plugins.join(".companion-setupAbc");
    fs::create_dir(&away).unwrap();
    fs::rename(&target, away.join("old-0")).unwrap();
    made.set_pending();
    write(target.join("lib/other"), "another plugin is there now");
    made.carry_out(&package);
    assert!(away.join("old-0/lib/plugin.jar").exists());
    fs::remove_dir_all(&target).unwrap();
    made.carry_out(&package);
    assert!(target.join("lib/plugin.jar").exists() && !away.exists());
}

#[test]
fn one_item_is_removed_by_its_name_and_a_folder_goes_with_the_last_item_in_it() {
    let made = made();
    let before = made.files();
    made.carry_out(&made.package("1.0"));
    let neovim = |item: &Installed| item.subject == "Neovim";
    let plan = Setup::remove(&made.machine, neovim, true).unwrap();
    assert_eq!(outcomes(&plan), [("Neovim", Outcome::Planned)]);
    let removed = Setup::remove(&made.machine, neovim, false).unwrap();
    assert_eq!(outcomes(&removed), [("Neovim", Outcome::Done)]);
    assert!(!made.home(".local/share/nvim").exists());
    let rest = Setup::installed(&made.machine).unwrap();
    assert_eq!(rest.len(), 7);
    assert_eq!(rest[0].home, Some(made.root("opt/idea")));
    assert!(!rest.iter().any(neovim));
    made.remove();
    assert_eq!(made.files(), before);
}

#[test]
fn a_record_that_is_damaged_or_newer_is_named_with_the_way_out() {
    let newer = r#"{"dirs": [], "items": [{"subject": "x", "path": "/x", "version": "77.1.0",
        "what": {"future": {}}}]}"#;
    let damaged = "The list of installed items is damaged. Move the file away";
    for (text, fix) in [
        ("", damaged),
        ("{\"dirs\": []}", damaged),
        ("[{}]", damaged),
        (newer, "gemini-companion 77.1.0 wrote this file. Run that version, or a newer one"),
    ] {
        let made = made();
        write(made.record(), text);
        let before = made.files();
        let errors = [
            Setup::remove(&made.machine, |_| true, true).unwrap_err(),
            Setup::remove(&made.machine, |_| true, false).unwrap_err(),
            Setup::installed(&made.machine).unwrap_err(),
        ];
        for error in errors {
            let error = error.to_string();
            assert!(error.starts_with(made.record().to_str().unwrap()), "{error}");
            assert!(error.contains(fix), "{error}");
        }
        assert_eq!(made.files(), before);
    }
}

/// Makes the copy of the program fail.
fn without_program(made: &Made) {
    write(made.home(".local/bin"), "a file in place of the folder");
}

#[test]
fn without_the_program_nothing_is_installed_that_runs_it() {
    let made = made();
    without_program(&made);
    let package = made.package("1.0");
    for report in [made.plan(&package), made.carry_out(&package)] {
        for subject in ["Neovim", "Extension for Gemini CLI", "Completions for bash"] {
            let step = report.steps.iter().find(|step| step.subject == subject).unwrap();
            assert_eq!(step.outcome, Outcome::Failed, "{report}");
            let why = "it needs gemini-companion, which could not be installed";
            assert_eq!(step.message, why);
            assert!(!step.path.exists());
        }
    }
    assert_eq!(outcomes(&made.remove()).len(), 2, "the IDE's plugin, and IDE mode");
}

#[test]
fn an_older_program_serves_when_the_new_one_can_not_be_copied() {
    let made = made();
    let package = made.package("1.0");
    made.carry_out(&package);
    fs::remove_file(made.program.as_ref().unwrap()).unwrap();
    let report = made.carry_out(&package);
    let of = |subject| report.steps.iter().find(|step| step.subject == subject).unwrap().outcome;
    assert_eq!(of("gemini-companion"), Outcome::Failed);
    assert_eq!(of("Neovim"), Outcome::Unchanged);
    assert_eq!(of("Extension for Gemini CLI"), Outcome::Unchanged);
}

#[test]
fn documents_are_installed_only_where_the_system_has_a_place_for_them() {
    let subjects = |made: &Made| {
        let steps = made.plan(&made.package("1.0")).steps;
        let steps = steps.into_iter().map(|step| step.subject);
        steps.filter(|name| name.starts_with("Comp") || name.starts_with("Man")).collect::<Vec<_>>()
    };
    assert_eq!(subjects(&made()), ["Completions for bash", "Completions for fish", "Man page"]);
    let mut bare = made();
    fs::remove_dir(bare.root("usr/share/bash-completion")).unwrap();
    fs::remove_file(bare.root("usr/bin/fish")).unwrap();
    bare.set("PATH", bare.root("usr/bin"));
    assert_eq!(subjects(&bare), [""; 0]);
}

#[test]
fn a_document_that_its_user_has_or_has_changed_or_removed_stays_so() {
    let made = made();
    let package = made.package("1.0");
    let fish = made.home(".local/share/fish/vendor_completions.d/gemini-companion.fish");
    let step = |report: companion_setup::Report, path: &Path| {
        let step = report.steps.into_iter().find(|step| step.path == path).unwrap();
        (step.outcome, step.message)
    };
    write(&fish, "of the user");
    assert_eq!(step(made.carry_out(&package), &fish).0, Outcome::Unchanged);
    let bash = made.home(".local/share/bash-completion/completions/gemini-companion");
    fs::write(&bash, "changed").unwrap();
    assert_eq!(step(made.carry_out(&package), &bash).0, Outcome::Skipped);
    let man = made.home(".local/share/man/man1/gemini-companion.1");
    fs::remove_file(&man).unwrap();
    let (outcome, message) = step(made.carry_out(&package), &man);
    assert_eq!(outcome, Outcome::Skipped);
    assert!(message.starts_with("you removed it"), "{message}");
    made.remove();
    assert_eq!(fs::read_to_string(fish).unwrap(), "of the user");
    assert_eq!(fs::read_to_string(bash).unwrap(), "changed");
}
