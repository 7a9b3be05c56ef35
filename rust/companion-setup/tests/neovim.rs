//! Tests that setup installs the plugin where Neovim loads it, and removes it. `e2e` tests that a
//! real Neovim loads it.

// Other systems' machines use paths of this system. On Windows a Unix PATH can't contain them.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Made, below, outcomes, write, write_program};
use companion_setup::{Os, Outcome, Package, Report};

const TARGET: &str = "site/pack/companion/start/gemini_companion";

/// Creates a machine with Neovim and a client whose IDE mode is on.
fn made(os: Os) -> Made {
    let mut made = Made::new(os);
    let name = if os == Os::Windows { "nvim.exe" } else { "nvim" };
    write_program(made.root("usr/bin").join(name), "");
    made.set("PATH", made.root("usr/bin"));
    write(made.home(".gemini/settings.json"), "{\"ide\": {\"enabled\": true}}");
    made
}

fn data(made: &Made) -> PathBuf {
    made.home(".local/share/nvim")
}

/// Creates such a machine, runs setup, and returns it with the package and the plugin's folder.
fn installed() -> (Made, Package, PathBuf) {
    let made = made(Os::Linux);
    let package = made.package("1.0");
    made.carry_out(&package);
    let target = data(&made).join(TARGET);
    (made, package, target)
}

fn step(report: &Report) -> (Outcome, &Path, &str) {
    let step = report.steps.iter().find(|step| step.subject == "Neovim").unwrap();
    (step.outcome, &step.path, &step.message)
}

#[test]
fn it_is_what_the_sources_have_and_goes_without_a_trace() {
    let made = made(Os::Linux);
    let messages = made.live(&made.package("1.0"), "Neovim", |target| {
        assert_eq!(target, data(&made).join(TARGET));
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/nvim");
        for part in ["doc", "lua", "plugin"] {
            let mut there = below(&target.join(part));
            there.retain(|(name, _)| name != Path::new("tags"));
            assert_eq!(there, below(&sources.join(part)), "{part}");
        }
        let tags = fs::read_to_string(target.join("doc/tags")).unwrap();
        let help = "gemini_companion\tgemini_companion.txt\t/*gemini_companion*\n";
        assert!(tags.contains(help), "{tags}");
    });
    let expected = [
        "install the plugin",
        "installed the plugin",
        "it is installed",
        "remove the plugin",
        "removed the plugin",
    ];
    assert_eq!(messages, expected);
}

#[test]
fn it_names_the_program_wherever_terminals_look() {
    let mut made = made(Os::Linux);
    made.program = Some(write(made.root("npx/gemini-companion"), "1.0"));
    made.carry_out(&made.package("1.0"));
    let config = data(&made).join(TARGET).join("lua/gemini_companion/config.lua");
    let program = made.home(".local/bin/gemini-companion");
    let line = format!("\n  cmd = {{ '{}' }},\n", program.display());
    assert!(fs::read_to_string(config).unwrap().contains(&line));
}

#[test]
fn an_older_one_is_replaced_as_one_step() {
    let (made, package, target) = installed();
    let new = below(&target);
    write(target.join("lua/gemini_companion/gone.lua"), "of an older version");
    fs::write(target.join("lua/gemini_companion/init.lua"), "older").unwrap();
    made.adopt_files(&target);
    assert_eq!(step(&made.plan(&package)).0, Outcome::Planned);
    assert_eq!(step(&made.carry_out(&package)).0, Outcome::Done);
    assert_eq!(below(&target), new);
    let packages = target.parent().unwrap().parent().unwrap();
    assert_eq!(fs::read_dir(packages).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn what_its_user_has_changed_stays() {
    let (made, package, target) = installed();
    fs::write(target.join("lua/gemini_companion/init.lua"), "of the user").unwrap();
    let theirs = below(&target);
    let stays = "you changed it, so it stays; to get this version, move it away and run \
                 gemini-companion setup neovim";
    assert_eq!(step(&made.carry_out(&package)), (Outcome::Skipped, &*target, stays));
    let stays = "you changed it, so it stays";
    assert_eq!(step(&made.remove()), (Outcome::Unchanged, &*target, stays));
    assert_eq!(below(&target), theirs);
}

#[test]
fn a_run_that_was_ended_before_it_put_the_files_there_is_made_up_for() {
    let (made, package, target) = installed();
    let new = below(&target);
    fs::write(target.join("lua/gemini_companion/init.lua"), "older").unwrap();
    made.adopt_files(&target);
    made.set_replacing();
    assert_eq!(step(&made.plan_remove()).0, Outcome::Planned);
    assert_eq!(step(&made.carry_out(&package)).0, Outcome::Done);
    assert_eq!(below(&target), new);
    fs::write(target.join("lua/gemini_companion/init.lua"), "older").unwrap();
    assert_eq!(step(&made.carry_out(&package)).0, Outcome::Skipped, "that is the user's now");
}

#[test]
fn one_that_the_user_removed_returns_only_by_name() {
    let (mut made, package, target) = installed();
    fs::remove_dir_all(&target).unwrap();
    let before = made.files();
    let why = "you removed the plugin; to install it again, run gemini-companion setup neovim";
    assert_eq!(step(&made.plan(&package)), (Outcome::Skipped, &*target, why));
    assert_eq!(step(&made.carry_out(&package)), (Outcome::Skipped, &*target, why));
    assert_eq!(made.files(), before);
    made.is_named = true;
    assert_eq!(step(&made.carry_out(&package)), (Outcome::Done, &*target, "installed the plugin"));
    // Neovim itself was removed and installed again.
    made.is_named = false;
    fs::remove_dir_all(data(&made)).unwrap();
    assert_eq!(step(&made.carry_out(&package)).0, Outcome::Done);
}

#[test]
fn a_newer_one_stays() {
    let (made, package, target) = installed();
    fs::write(target.join("lua/gemini_companion/init.lua"), "newer").unwrap();
    made.adopt_files(&target);
    made.set_version("1000.0.0");
    let newer = below(&target);
    let stays = "1000.0.0 is installed, which is newer";
    assert_eq!(step(&made.carry_out(&package)), (Outcome::Skipped, &*target, stays));
    assert_eq!(below(&target), newer);
    assert_eq!(step(&made.remove()).0, Outcome::Done);
}

#[test]
fn one_that_its_user_has_stays() {
    let package = "site/pack/mine/opt/companion";
    for place in [package, "lazy/companion-for-gemini-cli", TARGET] {
        let made = made(Os::Linux);
        let plugin = data(&made).join(place);
        write(plugin.join("lua/gemini_companion/init.lua"), "of the user");
        let before = made.files();
        let report = made.carry_out(&made.package("1.0"));
        assert_eq!(step(&report), (Outcome::Unchanged, &*plugin, "you installed the plugin"));
        assert_eq!(outcomes(&made.remove()), []);
        assert_eq!(made.files(), before);
    }
}

#[test]
fn lazy_nvim_needs_a_line_of_its_own() {
    let made = made(Os::Linux);
    fs::create_dir_all(data(&made).join("lazy/lazy.nvim")).unwrap();
    let report = made.carry_out(&made.package("1.0"));
    let line = format!(
        "for lazy.nvim, add {{ dir = '{}' }} to your plugins",
        data(&made).join(TARGET).display()
    );
    assert!(step(&report).2.ends_with(&line), "{report}");
}

#[test]
fn its_folder_is_neovims_own() {
    let place = |made: &Made| step(&made.plan(&made.package("1.0"))).1.to_owned();
    let mut linux = made(Os::Linux);
    linux.set("NVIM_APPNAME", "lazyvim");
    assert_eq!(place(&linux), linux.home(".local/share/lazyvim").join(TARGET));
    linux.set("XDG_DATA_HOME", linux.root("data"));
    assert_eq!(place(&linux), linux.root("data/lazyvim").join(TARGET));
    let macos = made(Os::MacOs);
    assert_eq!(place(&macos), macos.home(".local/share/nvim").join(TARGET));
    let windows = made(Os::Windows);
    assert_eq!(place(&windows), windows.home("AppData/Local/nvim-data").join(TARGET));
}

#[test]
fn without_neovim_nothing_is_said_of_it() {
    let mut made = made(Os::Linux);
    made.set("PATH", made.root("empty"));
    assert_eq!(outcomes(&made.plan(&made.package("1.0"))), [("Gemini CLI", Outcome::Unchanged)]);
}

#[test]
fn links_of_the_user_are_followed_and_other_things_are_refused() {
    let linked = made(Os::Linux);
    let elsewhere = linked.root("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let packages = data(&linked).join("site/pack");
    fs::create_dir_all(&packages).unwrap();
    std::os::unix::fs::symlink(&elsewhere, packages.join("companion")).unwrap();
    let report = linked.carry_out(&linked.package("1.0"));
    assert_eq!(step(&report).0, Outcome::Done, "{report}");
    assert!(elsewhere.join("start/gemini_companion/plugin").is_dir());
    assert_eq!(outcomes(&linked.remove()), [("Neovim", Outcome::Done)]);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);

    let other = made(Os::Linux);
    let file = write(data(&other).join(TARGET).join("plugin/other.vim"), "\" other");
    let plan = other.plan(&other.package("1.0"));
    let report = other.carry_out(&other.package("1.0"));
    assert_eq!(step(&report).0, Outcome::Failed);
    assert!(step(&report).2.contains("another plugin"), "{report}");
    assert_eq!(step(&plan), step(&report));
    assert_eq!(fs::read_to_string(file).unwrap(), "\" other");
    assert_eq!(outcomes(&other.remove()), []);
}
