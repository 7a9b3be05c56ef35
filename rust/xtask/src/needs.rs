//! Checks the needs of a command that cargo does not install, before the command compiles anything.
//! Installs missing Debian packages.

use std::env::consts::EXE_SUFFIX;
use std::env::{split_paths, var_os};
use std::io::{IsTerminal, stdin};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::Result;
use crate::dist::compile;

/// `PACKAGE=SIGN`: the package of Debian and Ubuntu, and the program or the file that shows that it
/// is there. Without a sign, [`is_there`] knows it, or Debian has installed the package.
pub(crate) type Needs = &'static [&'static str];

/// Building the platform, and the plugin for it.
pub(crate) const PLUGIN: Needs = &[
    "maven=mvn",
    "python3=python3",
    "patch=patch",
    "xz-utils=xz",
    JDK_17_TO_21,
    MIRRORS,
    // apt checks the packages by it that the platform is built from.
    "debian-archive-keyring=/usr/share/keyrings/debian-archive-keyring.gpg",
    "fonts-dejavu-core",
    "libfontconfig1",
    "libfreetype6",
];
/// Starting the real client.
pub(crate) const CLIENT: Needs = &[NODE];
/// Running Neovim, from a Python wheel, in a terminal.
pub(crate) const NEOVIM: Needs = &[VENV, "tmux=tmux"];
/// Opening windows on a virtual display.
pub(crate) const DISPLAY: Needs =
    &["xvfb=Xvfb", "openbox=openbox", "libxext6", "libxi6", "libxrender1", "libxtst6"];
/// Simulating a user in windows, and reading their state.
pub(crate) const ROBOT: Needs =
    &["xdotool=xdotool", "tmux=tmux", "imagemagick=import", "util-linux=setpriv"];
/// Checking GitHub's workflows.
pub(crate) const WORKFLOWS: Needs = &[VENV, "shellcheck=shellcheck"];
/// Needs of the tests only.
pub(crate) const TESTS: Needs = &[
    "curl=curl",
    "git=git",
    "procps=ps",
    "tmux=tmux",
    // Containers without Docker, and a machine for SSH.
    "util-linux=unshare",
    "iproute2=ip",
    "bubblewrap=bwrap",
    "openssh-client=ssh",
    "dropbear-bin=dropbear",
    // A disk that does not answer.
    "bindfs=bindfs",
    // The plugin for Neovim, and a Neovim that is too old for it.
    "neovim=nvim",
    "lua-check=luacheck",
];
/// Making a bare machine.
pub(crate) const BARE: Needs = &["mmdebstrap=mmdebstrap", "util-linux=unshare", "git=git"];
/// Compiling for other systems.
pub(crate) const DIST: Needs = &[
    "git=git",
    VENV,
    "rust-web-src",
    "rustc-web",
    "cargo-web",
    "gcc-mingw-w64-x86-64-win32=x86_64-w64-mingw32-gcc-win32",
    "llvm=llvm-readobj",
];
/// Running programs that were compiled for other systems.
pub(crate) const DIST_TEST: Needs = &[
    "wine64=/usr/lib/wine/wine64",
    "qemu-user-static=qemu-aarch64-static",
    "libc6-arm64-cross",
    "libgcc-s1-arm64-cross",
];
/// Building the plugin for today's IDEs.
pub(crate) const GRADLE: Needs = &[JDK_21];
/// Installing the packages for npm.
pub(crate) const NPM: Needs = &["python3=python3"];

const VENV: &str = "python3-venv";

/// The platform's build finds a mirror of Debian. On Ubuntu this package names them.
const MIRRORS: &str = "python-apt-common";

/// Debian 12 has an older one, so the user must install it.
const NODE: &str = "Node 20 or newer, with npm";

/// Debian 12 has a package of version 17, newer ones and Ubuntu of version 21.
const JDK_17_TO_21: &str = "openjdk-17-jdk";
const JDK_21: &str = "openjdk-21-jdk";
const JDK_21_BY_HAND: &str = "a JDK 21 in JAVA_HOME, on the PATH or below /usr/lib/jvm";

/// The commands that work on systems other than Debian and Ubuntu.
const ELSEWHERE: &str = "This command needs Debian or Ubuntu. Elsewhere use `cargo xtask \
    test --portable`, and `cargo xtask run --ide HOME` with an installed IDE.";

/// Ensures that all `needs` are present, and asks once whether to install missing packages. Installs
/// them without asking with `yes` or `CI=true`, and for root without a terminal, as in a container.
pub(crate) fn ensure(sh: &Shell, needs: &[Needs], yes: bool) -> Result {
    let missing = missing(sh, needs);
    if missing.is_empty() {
        return Ok(());
    }
    let (by_hand, packages): (Vec<&str>, Vec<&str>) =
        missing.iter().partition(|need| [NODE, JDK_21_BY_HAND].contains(need));
    let by_hand = by_hand.join("; ");
    let install = format!("apt-get install --no-install-recommends {}", packages.join(" "));
    if packages.is_empty() {
        return Err(format!("missing: {by_hand}").into());
    }
    if !is_on_path("apt-get") {
        let all = missing.join("; ");
        return Err(format!("{ELSEWHERE} Missing, by the names of Debian's packages: {all}").into());
    }
    if !by_hand.is_empty() {
        return Err(format!("missing: {by_hand}; and {install}").into());
    }
    let is_root = cmd!(sh, "id -u").quiet().read()? == "0";
    if !is_root && !is_on_path("sudo") {
        return Err(format!("missing; as root: {install}").into());
    }
    let is_agreed = if yes || var_os("CI").is_some_and(|value| value == "true") {
        true
    } else if stdin().is_terminal() {
        println!("{install}\nThis is needed and missing. Install it now? [Y/n]");
        let mut answer = String::new();
        stdin().read_line(&mut answer)?;
        matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes")
    } else {
        is_root
    };
    if !is_agreed {
        return Err(format!("missing; with --yes it is installed: {install}").into());
    }
    println!("{install}\nThis is needed and missing. It is installed now: up to two minutes");
    let program = if is_root { "env" } else { "sudo" };
    let apt = ["DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"];
    cmd!(sh, "{program} {apt...} update").quiet().run()?;
    let install = cmd!(sh, "{program} {apt...} install --yes --no-install-recommends");
    install.args(packages).quiet().ignore_stdout().run()?;
    match self::missing(sh, needs) {
        still if still.is_empty() => Ok(()),
        still => Err(format!("still missing: {}", still.join(" ")).into()),
    }
}

/// The packages that are missing, each once.
fn missing(sh: &Shell, needs: &[Needs]) -> Vec<&'static str> {
    let os_release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let mut missing = Vec::new();
    for need in needs.iter().copied().flatten().filter(|need| !is_there(sh, &os_release, need)) {
        let package = package(need, &os_release);
        if !missing.contains(&package) {
            missing.push(package);
        }
    }
    missing
}

/// The name of a need's package on this system.
fn package(need: &'static str, os_release: &str) -> &'static str {
    match need {
        JDK_17_TO_21 if !is_debian_12(os_release) => JDK_21,
        JDK_21 if is_debian_12(os_release) => JDK_21_BY_HAND,
        need => need.split_once('=').map_or(need, |(package, _)| package),
    }
}

fn is_debian(os_release: &str) -> bool {
    os_release.lines().any(|line| line == "ID=debian")
}

fn is_debian_12(os_release: &str) -> bool {
    is_debian(os_release) && os_release.contains("VERSION_ID=\"12\"")
}

fn is_there(sh: &Shell, os_release: &str, need: &str) -> bool {
    match need {
        // The recipe of the platform looks for one that opens windows.
        JDK_17_TO_21 => has_jdk(sh, 17..=21, "lib/libawt_xawt.so"),
        JDK_21 => has_jdk(sh, 21..=21, "bin"),
        MIRRORS => {
            is_debian(os_release)
                || var_os("DEBIAN_MIRROR").is_some()
                || Path::new("/usr/share/python-apt/templates/Debian.info").exists()
        }
        NODE => has_node_20(sh),
        VENV => {
            let python = cmd!(sh, "python3 -m ensurepip --version");
            python.quiet().ignore_stdout().ignore_stderr().run().is_ok()
        }
        "rust-web-src" | "rustc-web" | "cargo-web" => compile::with_sources(sh).is_some(),
        need => {
            need.split_once('=').map_or_else(|| is_installed(sh, need), |need| is_on_path(need.1))
        }
    }
}

fn is_installed(sh: &Shell, package: &str) -> bool {
    let status = "--showformat=${db:Status-Status}";
    let query = cmd!(sh, "dpkg-query --show {status} {package}");
    query.quiet().ignore_stderr().read().is_ok_and(|status| status == "installed")
}

/// Whether there is a program of this name, or an absolute file.
fn is_on_path(program: &str) -> bool {
    let path = var_os("PATH").unwrap_or_default();
    // Debian's folders of root's programs, which are not on every user's PATH.
    let folders = split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(program)).any(|file| file.is_file())
}

/// Whether there is a JDK of one of these versions with that file, in one of the usual places.
fn has_jdk(sh: &Shell, versions: RangeInclusive<u32>, file: &str) -> bool {
    let homes = [var_os("JAVA_HOME").map(PathBuf::from), javac_home()];
    let debian = sh.read_dir("/usr/lib/jvm").unwrap_or_default();
    homes.into_iter().flatten().chain(debian).any(|home| {
        let javac = home.join(format!("bin/javac{EXE_SUFFIX}"));
        let version = cmd!(sh, "{javac} -version").quiet().ignore_stderr().read();
        home.join(file).exists()
            && major(version).is_some_and(|version| versions.contains(&version))
    })
}

/// The home of the JDK whose compiler is on the PATH.
fn javac_home() -> Option<PathBuf> {
    let path = var_os("PATH")?;
    let mut javac = split_paths(&path).map(|folder| folder.join(format!("javac{EXE_SUFFIX}")));
    let javac = javac.find_map(|file| file.canonicalize().ok())?;
    Some(javac.parent()?.parent()?.to_owned())
}

fn has_node_20(sh: &Shell) -> bool {
    let version = cmd!(sh, "node --version").quiet().ignore_stderr().read();
    is_on_path("npm") && major(version).is_some_and(|major| major >= 20)
}

/// The first number in a program's output of its version.
fn major(output: xshell::Result<String>) -> Option<u32> {
    let output = output.ok()?;
    let mut numbers = output.split(|character: char| !character.is_ascii_digit());
    numbers.find(|number| !number.is_empty())?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jdk_is_the_one_that_the_system_has_a_package_of() {
        let debian_12 = "NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\n";
        let debian_13 = "VERSION_ID=\"13\"\nID=debian";
        let jdks = |os_release| [JDK_17_TO_21, JDK_21].map(|need| package(need, os_release));
        assert_eq!(jdks(debian_12), ["openjdk-17-jdk", JDK_21_BY_HAND]);
        for other in [debian_13, "ID=debian", "ID=ubuntu\nVERSION_ID=\"24.04\""] {
            assert_eq!(jdks(other), ["openjdk-21-jdk"; 2], "{other}");
        }
    }

    #[test]
    fn programs_say_their_version_in_several_ways() {
        for (output, version) in [
            ("javac 17.0.15", Some(17)),
            ("javac 25-ea", Some(25)),
            ("javac 1.8.0_402", Some(1)),
            ("v22.14.0", Some(22)),
            ("", None),
        ] {
            assert_eq!(major(Ok(output.to_owned())), version, "{output}");
        }
    }
}
