//! Tests that setup installs the program where terminals find it, and removes it.

// Other systems' machines use paths of this system. On Windows a Unix PATH can't contain them.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::common::{Made, outcomes, write, write_program};
use companion_setup::{Os, Outcome, Report};

const NAME: &str = "gemini-companion";

/// Creates a machine whose IDE mode is on, with a program from npm's cache. Terminals search
/// `path`.
fn made(os: Os, path: &[PathBuf]) -> Made {
    let mut made = Made::new(os);
    let program = made.root("npx/node_modules/gemini-companion-x/gemini-companion");
    made.program = Some(write_program(program, "1.0"));
    write(made.home(".gemini/settings.json"), "{\"ide\": {\"enabled\": true}}");
    let path: Vec<_> = path.iter().map(|dir| made.home(dir.to_str().unwrap())).collect();
    look_in(&mut made, &path);
    made
}

fn look_in(made: &mut Made, path: &[PathBuf]) {
    let separator = if made.machine.os == Os::Windows { ";" } else { ":" };
    let path: Vec<_> = path.iter().map(|dir| dir.to_str().unwrap()).collect();
    made.set("PATH", path.join(separator));
}

fn set_mode(file: &Path, mode: u32) {
    fs::set_permissions(file, PermissionsExt::from_mode(mode)).unwrap();
}

/// Returns the program's outcome, path and message.
fn step(report: &Report) -> (Outcome, &Path, &str) {
    let step = report.steps.iter().find(|step| step.subject == NAME).unwrap();
    (step.outcome, &step.path, &step.message)
}

fn copy_to(target: &Path) -> String {
    format!("copy to {}", target.parent().unwrap().display())
}

fn copied_to(target: &Path) -> String {
    format!("copied to {}", target.parent().unwrap().display())
}

fn local_bin() -> Vec<PathBuf> {
    vec![PathBuf::from(".local/bin")]
}

#[test]
fn it_is_copied_and_taken_away_again_without_a_trace() {
    let made = made(Os::Linux, &local_bin());
    let target = made.home(".local/bin/gemini-companion");
    let messages = made.live(&made.package("1.0"), NAME, |path| {
        assert_eq!(path, target);
        assert_eq!(fs::read_to_string(path).unwrap(), "1.0");
        let permissions = fs::metadata(path).unwrap().permissions();
        assert_eq!(permissions.mode() & 0o777, 0o755);
    });
    let expected = [&*copy_to(&target), &copied_to(&target), "it is installed"];
    assert_eq!(messages[..3], expected);
}

#[test]
fn what_terminals_find_already_stays() {
    let mut made = made(Os::Linux, &local_bin());
    let package = made.package("1.0");
    let own = write_program(made.root("usr/bin/gemini-companion"), "of npm");
    let path = [made.root("empty"), made.root("usr/bin")];
    look_in(&mut made, &path);
    let report = made.carry_out(&package);
    assert_eq!(step(&report), (Outcome::Unchanged, &*own, "it is installed"));
    assert_eq!(outcomes(&made.remove()), []);
    assert_eq!(fs::read_to_string(own).unwrap(), "of npm");
}

#[test]
fn one_in_the_path_that_hooks_can_not_start_is_passed_over() {
    for (folder, content, mode, why) in [
        ("usr/bin", "broken", 0o755, "does not work: it is another program"),
        ("usr/bin", "version 0.0.1", 0o755, "is 0.0.1, an older one"),
        ("usr/bin", "of npm", 0o644, ""),
        // npx takes this folder out of the PATH when it ends.
        ("npx/node_modules/.bin", "for now", 0o755, ""),
    ] {
        let mut made = made(Os::Linux, &local_bin());
        let path = [made.root(folder), made.home(".local/bin")];
        look_in(&mut made, &path);
        let theirs = write(made.root(folder).join("gemini-companion"), content);
        set_mode(&theirs, mode);
        let target = made.home(".local/bin/gemini-companion");
        let package = made.package("1.0");
        let mut note = String::new();
        if !why.is_empty() {
            note = format!("; terminals find {}, which {why}", theirs.display());
        }
        let planned = format!("{}{note}", copy_to(&target));
        assert_eq!(step(&made.plan(&package)), (Outcome::Planned, &*target, &*planned));
        let copied = format!("{}{note}", copied_to(&target));
        assert_eq!(step(&made.carry_out(&package)), (Outcome::Done, &*target, &*copied));
        let again = format!("it is installed{note}");
        assert_eq!(step(&made.carry_out(&package)), (Outcome::Unchanged, &*target, &*again));
        assert_eq!(outcomes(&made.remove()), [(NAME, Outcome::Done)]);
        assert_eq!(fs::read_to_string(theirs).unwrap(), content, "it is the user's");
    }
}

#[test]
fn one_of_the_user_in_its_own_place_that_does_not_work_is_named() {
    let mut made = made(Os::Linux, &local_bin());
    made.clients[0].extensions = Some(made.home(".gemini/extensions"));
    let target = write_program(made.home(".local/bin/gemini-companion"), "broken");
    let report = made.carry_out(&made.package("1.0"));
    let message = format!(
        "{} does not work: it is another program. It is not from setup. Delete it, and run setup \
         again",
        target.display()
    );
    assert_eq!(step(&report), (Outcome::Failed, &*target, &*message));
    assert_eq!(outcomes(&report).last().unwrap().1, Outcome::Failed, "no hook runs it");
    assert_eq!(fs::read_to_string(&target).unwrap(), "broken");
}

#[test]
fn a_copy_that_can_not_be_run_any_more_is_written_again() {
    let made = made(Os::Linux, &local_bin());
    let package = made.package("1.0");
    made.carry_out(&package);
    let target = made.home(".local/bin/gemini-companion");
    set_mode(&target, 0o644);
    assert_eq!(step(&made.carry_out(&package)).0, Outcome::Done);
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn a_newer_one_replaces_the_installed_one_and_no_other() {
    let made = made(Os::Linux, &local_bin());
    let package = made.package("1.0");
    let target = made.home(".local/bin/gemini-companion");
    made.carry_out(&package);
    let newer = |text: &str| fs::write(made.program.as_ref().unwrap(), text).unwrap();
    newer("2.0");
    assert_eq!(step(&made.plan(&package)).0, Outcome::Planned);
    assert_eq!(step(&made.carry_out(&package)).0, Outcome::Done);
    assert_eq!(fs::read_to_string(&target).unwrap(), "2.0");
    made.set_version("1000.0.0");
    newer("1.0");
    let stays = "1000.0.0 is installed, which is newer";
    assert_eq!(step(&made.carry_out(&package)), (Outcome::Skipped, &*target, stays));
    made.set_version("0.0.1");
    fs::write(&target, "of the user").unwrap();
    newer("3.0");
    assert_eq!(step(&made.carry_out(&package)).0, Outcome::Unchanged);
    let removed = made.remove();
    let sentence = "you replaced it, so it stays";
    assert_eq!(step(&removed), (Outcome::Unchanged, &*target, sentence));
    assert_eq!(fs::read_to_string(&target).unwrap(), "of the user");
}

#[test]
fn a_newer_one_replaces_it_although_the_path_names_its_folder_by_a_link() {
    let mut made = made(Os::Linux, &local_bin());
    let package = made.package("1.0");
    let target = made.home(".local/bin/gemini-companion");
    made.carry_out(&package);
    symlink(".local/bin", made.home("bin")).unwrap();
    let path = [made.home("bin")];
    look_in(&mut made, &path);
    fs::write(made.program.as_ref().unwrap(), "2.0").unwrap();
    assert_eq!(step(&made.plan(&package)), (Outcome::Planned, &*target, &*copy_to(&target)));
    assert_eq!(step(&made.carry_out(&package)).0, Outcome::Done);
    assert_eq!(fs::read_to_string(&target).unwrap(), "2.0");
    assert_eq!(outcomes(&made.remove()), [(NAME, Outcome::Done)]);
    assert!(!target.exists());
}

#[test]
fn on_windows_the_older_one_is_moved_away_first() {
    let made = made(Os::Windows, &local_bin());
    let package = made.package("1.0");
    made.carry_out(&package);
    let target = made.home(".local/bin/gemini-companion.exe");
    let running = fs::File::open(&target).unwrap();
    fs::write(made.program.as_ref().unwrap(), "2.0").unwrap();
    assert_eq!(step(&made.carry_out(&package)).0, Outcome::Done);
    assert_eq!(fs::read_to_string(&target).unwrap(), "2.0");
    assert_eq!(std::io::read_to_string(running).unwrap(), "1.0");
    assert_eq!(fs::read_dir(target.parent().unwrap()).unwrap().count(), 1, "nothing lies around");
}

#[test]
fn the_folder_is_one_in_which_terminals_look() {
    let place = |made: &Made| step(&made.plan(&made.package("1.0"))).1.to_owned();
    let cases = [
        (Os::Linux, ".local/bin/gemini-companion", "bin/gemini-companion"),
        (Os::MacOs, ".local/bin/gemini-companion", "bin/gemini-companion"),
        (
            Os::Windows,
            ".local/bin/gemini-companion.exe",
            "AppData/Local/Microsoft/WindowsApps/gemini-companion.exe",
        ),
    ];
    for (os, usual, other) in cases {
        let dir = |file: &str| Path::new(file).parent().unwrap().to_owned();
        let both = made(os, &[dir(other), dir(usual)]);
        fs::create_dir_all(both.home(other).parent().unwrap()).unwrap();
        assert_eq!(place(&both), both.home(usual));
        let one = made(os, &[dir(other)]);
        assert_eq!(place(&one), one.home(usual), "a folder that is not there");
        fs::create_dir_all(one.home(other).parent().unwrap()).unwrap();
        assert_eq!(place(&one), one.home(other));
        let none = made(os, &[]);
        assert_eq!(place(&none), none.home(usual));
        let report = none.carry_out(&none.package("1.0"));
        let advice = match os {
            Os::Linux => ". Not on PATH yet: open a new terminal, or add the folder to PATH",
            Os::MacOs => {
                ". Not on PATH yet: add a line such as export PATH=\"$HOME/.local/bin:$PATH\" to ~/.zprofile"
            }
            Os::Windows => {
                ". Not on Path yet: add the folder in the settings of environment variables"
            }
        };
        assert!(step(&report).2.ends_with(advice), "{report}");
        let again = none.carry_out(&none.package("1.0"));
        assert_eq!(step(&again).0, Outcome::Unchanged);
        assert!(step(&again).2.ends_with(advice), "{again}");
    }
}

#[test]
fn windows_has_the_path_under_another_name() {
    let mut made = made(Os::Windows, &[]);
    made.machine.env.clear();
    write_program(made.root("npm/gemini-companion.cmd"), "of npm");
    made.set("Path", made.root("npm"));
    let report = made.plan(&made.package("1.0"));
    assert_eq!(step(&report).0, Outcome::Unchanged);
}

#[test]
fn a_folder_that_is_a_link_of_the_user_is_followed() {
    let made = made(Os::Linux, &local_bin());
    let elsewhere = made.root("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir_all(made.home(".local")).unwrap();
    symlink(&elsewhere, made.home(".local/bin")).unwrap();
    let report = made.carry_out(&made.package("1.0"));
    assert_eq!(step(&report).0, Outcome::Done, "{report}");
    assert_eq!(fs::read_to_string(elsewhere.join(NAME)).unwrap(), "1.0");
    assert_eq!(outcomes(&made.remove()), [(NAME, Outcome::Done)]);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert!(made.home(".local/bin").is_symlink());
}

/// Checks that a run fails as its plan says, and changes nothing. Returns the message.
fn refusal(made: &Made) -> String {
    let package = made.package("1.0");
    let before = made.files();
    let plan = made.plan(&package);
    let report = made.carry_out(&package);
    assert_eq!(step(&report).0, Outcome::Failed, "{report}");
    assert_eq!(step(&plan), step(&report), "the plan sees it, too");
    let state = made.home(".local/state");
    let mut after = made.files();
    after.retain(|(path, _)| !path.starts_with(&state));
    assert_eq!(after, before);
    assert_eq!(outcomes(&made.remove()), [], "nothing is known that is not there");
    step(&report).2.to_owned()
}

#[test]
fn links_that_lead_nowhere_and_what_is_no_folder_are_refused() {
    let program = made(Os::Linux, &local_bin());
    fs::create_dir_all(program.home(".local/bin")).unwrap();
    symlink(program.root("nowhere"), program.home(".local/bin/gemini-companion")).unwrap();
    assert!(refusal(&program).contains("nowhere, which does not exist"));

    let folder = made(Os::Linux, &local_bin());
    fs::create_dir_all(folder.home(".local")).unwrap();
    symlink(folder.root("nowhere"), folder.home(".local/bin")).unwrap();
    assert!(refusal(&folder).contains("nowhere, which does not exist"));

    let occupied = made(Os::Linux, &local_bin());
    write(occupied.home(".local/bin"), "a file");
    assert!(refusal(&occupied).contains("not a folder"));
}

#[test]
fn a_link_to_something_of_another_user_is_refused() {
    let made = made(Os::Linux, &local_bin());
    fs::create_dir_all(made.home(".local")).unwrap();
    symlink(made.of_another_user(), made.home(".local/bin")).unwrap();
    assert!(refusal(&made).contains("belongs to another user"));
}
