//! Checks the needs of a command that cargo does not install, before the command compiles anything.
//! Installs missing Debian packages.

use std::env::consts::EXE_SUFFIX;
use std::env::var_os;
use std::io::{IsTerminal, stdin};
use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::Result;
use crate::dist::compile;

/// A kind of work that commands do.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// Building the platform, and the plugin for it.
    Plugin,
    /// Starting the real client.
    Client,
    /// Running Neovim, from a Python wheel, in a terminal.
    Neovim,
    /// Opening windows on a virtual display.
    Display,
    /// Simulating a user in windows, and reading their state.
    Robot,
    /// Checking GitHub's workflows.
    Workflows,
    /// Needs of the tests only.
    Tests,
    /// Making a bare machine.
    Bare,
    /// Compiling for other systems.
    Dist,
    /// Running programs that were compiled for other systems.
    DistTest,
    /// Building the plugin for today's IDEs.
    Gradle,
    /// Installing the packages for npm.
    Npm,
}

/// A sign that a need is present.
enum Sign {
    Program(&'static str),
    File(&'static str),
    /// Debian has installed the package.
    Installed,
    Jdk17,
    Jdk21,
    Node20,
    /// Python can create virtual environments.
    Venv,
    /// A compiler has the sources of its standard library.
    RustSources,
}

/// The sign that a need is present, and the package of Debian 12 that installs it.
type Need = (Sign, &'static str);

const PLUGIN: [Need; 9] = [
    (Sign::Program("mvn"), "maven"),
    (Sign::Program("python3"), "python3"),
    (Sign::Program("patch"), "patch"),
    (Sign::Program("xz"), "xz-utils"),
    (Sign::Jdk17, "openjdk-17-jdk"),
    // apt uses it to check the packages from which the platform is built.
    (Sign::File("/usr/share/keyrings/debian-archive-keyring.gpg"), "debian-archive-keyring"),
    (Sign::Installed, "fonts-dejavu-core"),
    (Sign::Installed, "libfontconfig1"),
    (Sign::Installed, "libfreetype6"),
];
const CLIENT: [Need; 1] = [(Sign::Node20, NODE)];
const NEOVIM: [Need; 2] = [(Sign::Venv, "python3-venv"), (Sign::Program("tmux"), "tmux")];
const DISPLAY: [Need; 6] = [
    (Sign::Program("Xvfb"), "xvfb"),
    (Sign::Program("openbox"), "openbox"),
    (Sign::Installed, "libxext6"),
    (Sign::Installed, "libxi6"),
    (Sign::Installed, "libxrender1"),
    (Sign::Installed, "libxtst6"),
];
const ROBOT: [Need; 3] = [
    (Sign::Program("xdotool"), "xdotool"),
    (Sign::Program("import"), "imagemagick"),
    (Sign::Program("setpriv"), "util-linux"),
];
const WORKFLOWS: [Need; 2] =
    [(Sign::Venv, "python3-venv"), (Sign::Program("shellcheck"), "shellcheck")];
const TESTS: [Need; 13] = [
    (Sign::Program("curl"), "curl"),
    (Sign::Program("git"), "git"),
    (Sign::Program("ps"), "procps"),
    (Sign::Program("tmux"), "tmux"),
    // Containers without Docker, and a machine for SSH.
    (Sign::Program("unshare"), "util-linux"),
    (Sign::Program("nsenter"), "util-linux"),
    (Sign::Program("ip"), "iproute2"),
    (Sign::Program("bwrap"), "bubblewrap"),
    (Sign::Program("ssh"), "openssh-client"),
    (Sign::Program("dropbear"), "dropbear-bin"),
    // A disk that does not answer.
    (Sign::Program("bindfs"), "bindfs"),
    // The plugin for Neovim, and a Neovim that is too old for it.
    (Sign::Program("nvim"), "neovim"),
    (Sign::Program("luacheck"), "lua-check"),
];

const BARE: [Need; 3] = [
    (Sign::Program("mmdebstrap"), "mmdebstrap"),
    (Sign::Program("unshare"), "util-linux"),
    (Sign::Program("git"), "git"),
];
const DIST: [Need; 7] = [
    (Sign::Program("git"), "git"),
    (Sign::Venv, "python3-venv"),
    (Sign::RustSources, "rust-web-src"),
    (Sign::RustSources, "rustc-web"),
    (Sign::RustSources, "cargo-web"),
    (Sign::Program("x86_64-w64-mingw32-gcc-win32"), "gcc-mingw-w64-x86-64-win32"),
    (Sign::Program("llvm-readobj"), "llvm"),
];
const DIST_TEST: [Need; 4] = [
    (Sign::File("/usr/lib/wine/wine64"), "wine64"),
    (Sign::Program("qemu-aarch64-static"), "qemu-user-static"),
    (Sign::Installed, "libc6-arm64-cross"),
    (Sign::Installed, "libgcc-s1-arm64-cross"),
];

const GRADLE: [Need; 1] = [(Sign::Jdk21, JDK_21)];
const NPM: [Need; 1] = [(Sign::Program("python3"), "python3")];

/// Debian 12 has an older one, so the user must install it.
const NODE: &str = "Node 20 or newer, with npm";

/// Debian 12 has none.
const JDK_21: &str = "a JDK 21 in JAVA_HOME, on the PATH or below /usr/lib/jvm";

/// The commands that work on systems other than Debian and Ubuntu.
const ELSEWHERE: &str = "This command is only tested on Debian and Ubuntu. Elsewhere use `cargo xtask \
    test --portable`, and `cargo xtask run --ide HOME` with an installed IDE.";

/// Ensures that the needs of `works` are present, and asks once whether to install missing
/// packages. Installs them without asking with `yes` or `CI=true`, and for root without a terminal,
/// as in a container.
pub(crate) fn ensure(sh: &Shell, works: &[Work], yes: bool) -> Result {
    let look = || missing(works, |sign, package| sign.is_there(sh, package));
    let missing = look();
    if missing.is_empty() {
        return Ok(());
    }
    let rights = if !is_there("apt-get") {
        Rights::None
    } else if cmd!(sh, "id -u").quiet().read()? == "0" {
        Rights::Root
    } else if is_there("sudo") {
        Rights::Sudo
    } else {
        Rights::User
    };
    let install = install(&missing, rights)?;
    let is_ci = var_os("CI").is_some_and(|value| value == "true");
    let consent = Consent::of(yes || is_ci, stdin().is_terminal(), rights);
    if consent == Consent::Missing || consent == Consent::Ask && !is_agreed(&install)? {
        return Err(format!("missing; with --yes it is installed: {install}").into());
    }
    println!("{install}\nThis is needed and missing. It is installed now: up to two minutes");
    let as_root: &[&str] = if rights == Rights::Sudo { &["sudo"] } else { &[] };
    let apt = [as_root, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]].concat();
    let (program, arguments) = (apt[0], &apt[1..]);
    cmd!(sh, "{program} {arguments...} update").quiet().run()?;
    let install = cmd!(sh, "{program} {arguments...} install --yes --no-install-recommends");
    install.args(missing).quiet().ignore_stdout().run()?;
    match look() {
        still if still.is_empty() => Ok(()),
        still => Err(format!("still missing: {}", still.join(" ")).into()),
    }
}

/// The right to install packages here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rights {
    /// This system is not Debian.
    None,
    User,
    Sudo,
    Root,
}

/// Whether packages may be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Consent {
    Given,
    /// The user can be asked.
    Ask,
    /// No user can be asked.
    Missing,
}

impl Consent {
    fn of(is_allowed: bool, has_terminal: bool, rights: Rights) -> Self {
        match (has_terminal, rights) {
            _ if is_allowed => Self::Given,
            (true, _) => Self::Ask,
            (false, Rights::Root) => Self::Given,
            (false, _) => Self::Missing,
        }
    }
}

/// Returns the command that installs all missing packages, or one line that names everything.
fn install(missing: &[&str], rights: Rights) -> Result<String> {
    let (by_hand, packages): (Vec<&str>, Vec<&str>) =
        missing.iter().partition(|need| [NODE, JDK_21].contains(need));
    let (by_hand, packages) = (by_hand.join("; "), packages.join(" "));
    let install = format!("apt-get install --no-install-recommends {packages}");
    match (by_hand.is_empty(), packages.is_empty(), rights) {
        (true, _, Rights::Sudo | Rights::Root) => Ok(install),
        (true, _, Rights::User) => Err(format!("missing; as root: {install}").into()),
        (false, true, _) => Err(format!("missing: {by_hand}").into()),
        (_, _, Rights::None) => {
            let by_hand = if by_hand.is_empty() { by_hand } else { format!("; {by_hand}") };
            Err(format!(
                "{ELSEWHERE} Missing, by the names of Debian's packages: {packages}{by_hand}"
            )
            .into())
        }
        (false, false, _) => Err(format!("missing: {by_hand}; and {install}").into()),
    }
}

/// Returns the missing packages for `works`, each once.
fn missing(works: &[Work], is_there: impl Fn(&Sign, &str) -> bool) -> Vec<&'static str> {
    let needs = works.iter().flat_map(|work| match work {
        Work::Plugin => &PLUGIN[..],
        Work::Client => &CLIENT,
        Work::Neovim => &NEOVIM,
        Work::Display => &DISPLAY,
        Work::Robot => &ROBOT,
        Work::Workflows => &WORKFLOWS,
        Work::Tests => &TESTS,
        Work::Bare => &BARE,
        Work::Dist => &DIST,
        Work::DistTest => &DIST_TEST,
        Work::Gradle => &GRADLE,
        Work::Npm => &NPM,
    });
    let mut missing = Vec::new();
    for (sign, package) in needs {
        if !missing.contains(package) && !is_there(sign, package) {
            missing.push(*package);
        }
    }
    missing
}

impl Sign {
    fn is_there(&self, sh: &Shell, package: &str) -> bool {
        match self {
            Self::Program(name) => is_there(name),
            Self::File(path) => Path::new(path).exists(),
            Self::Installed => is_installed(sh, package),
            // The build of the platform searches for a JDK that opens windows.
            Self::Jdk17 => has_jdk(sh, "17", "lib/libawt_xawt.so"),
            Self::Jdk21 => has_jdk(sh, "21", "bin"),
            Self::Node20 => has_node_20(sh),
            Self::Venv => {
                let python = cmd!(sh, "python3 -m ensurepip --version");
                python.quiet().ignore_stdout().ignore_stderr().run().is_ok()
            }
            Self::RustSources => compile::with_sources(sh).is_some(),
        }
    }
}

/// Asks the user.
fn is_agreed(install: &str) -> Result<bool> {
    println!("{install}\nThis is needed and missing. Install it now? [Y/n]");
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
}

fn is_there(program: &str) -> bool {
    let path = var_os("PATH").unwrap_or_default();
    // Debian's folders of root's programs, which are not on every user's PATH.
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(program)).any(|file| file.is_file())
}

fn is_installed(sh: &Shell, package: &str) -> bool {
    let status = "--showformat=${db:Status-Status}";
    let status = cmd!(sh, "dpkg-query --show {status} {package}");
    status.quiet().ignore_stderr().read().is_ok_and(|status| status == "installed")
}

/// Returns whether a JDK of that version with that file is in one of the usual folders.
fn has_jdk(sh: &Shell, version: &str, file: &str) -> bool {
    let homes = [var_os("JAVA_HOME").map(PathBuf::from), javac_home()];
    let debian = sh.read_dir("/usr/lib/jvm").unwrap_or_default();
    let wanted = format!("javac {version}.");
    homes.into_iter().flatten().chain(debian).any(|home| {
        let javac = home.join(format!("bin/javac{EXE_SUFFIX}"));
        let found = cmd!(sh, "{javac} -version").quiet().ignore_stderr().read();
        home.join(file).exists() && found.is_ok_and(|found| found.starts_with(&wanted))
    })
}

/// Returns the home of the JDK whose compiler is on the PATH.
fn javac_home() -> Option<PathBuf> {
    let path = var_os("PATH")?;
    let mut javac =
        std::env::split_paths(&path).map(|folder| folder.join(format!("javac{EXE_SUFFIX}")));
    let javac = javac.find_map(|file| file.canonicalize().ok())?;
    Some(javac.parent()?.parent()?.to_owned())
}

fn has_node_20(sh: &Shell) -> bool {
    let version = cmd!(sh, "node --version").quiet().ignore_stderr().read().unwrap_or_default();
    let major = version.trim_start_matches('v').split('.').next();
    is_there("npm")
        && major.and_then(|major| major.parse().ok()).is_some_and(|major: u32| major >= 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_works_need_is_named_once() {
        let works = [Work::Plugin, Work::Tests, Work::Robot, Work::Npm];
        let missing = missing(&works, |_, _| false);
        for package in ["maven", "python3", "util-linux", "lua-check"] {
            assert_eq!(missing.iter().filter(|name| **name == package).count(), 1, "{package}");
        }
    }

    #[test]
    fn a_package_that_is_there_is_not_missing() {
        let is_there = |sign: &Sign, _: &str| matches!(sign, Sign::Program("mvn") | Sign::Jdk17);
        let missing = missing(&[Work::Plugin], is_there);
        assert!(!missing.contains(&"maven") && !missing.contains(&"openjdk-17-jdk"));
        assert!(missing.contains(&"xz-utils"));
    }

    #[test]
    fn root_without_a_terminal_is_not_asked() {
        assert_eq!(Consent::of(false, false, Rights::Root), Consent::Given);
        assert_eq!(Consent::of(false, true, Rights::Root), Consent::Ask);
        assert_eq!(Consent::of(false, false, Rights::Sudo), Consent::Missing);
        assert_eq!(Consent::of(true, false, Rights::Sudo), Consent::Given);
    }

    #[test]
    fn one_line_names_everything() {
        let line = |missing: &[&str], rights| match install(missing, rights) {
            Ok(install) => install,
            Err(why) => why.to_string(),
        };
        let apt = "apt-get install --no-install-recommends curl git";
        assert_eq!(line(&["curl", "git"], Rights::Root), apt);
        assert_eq!(line(&["curl", "git"], Rights::Sudo), apt);
        assert_eq!(line(&["curl", "git"], Rights::User), format!("missing; as root: {apt}"));
        assert_eq!(
            line(&["curl", NODE], Rights::None),
            format!("{ELSEWHERE} Missing, by the names of Debian's packages: curl; {NODE}")
        );
        assert_eq!(
            line(&["curl", NODE, "git"], Rights::Root),
            format!("missing: {NODE}; and {apt}"),
            "half of it is not begun"
        );
        assert_eq!(line(&[NODE], Rights::User), format!("missing: {NODE}"));
    }
}
