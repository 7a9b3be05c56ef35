//! Checks the needs of a command that cargo does not install, before the command compiles anything.
//! Installs missing Debian packages.

use std::env::consts::EXE_SUFFIX;
use std::env::var_os;
use std::io::{IsTerminal, stdin};
use std::ops::RangeInclusive;
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
    Jdk17To21,
    Jdk21,
    /// The platform's build finds a mirror of Debian.
    DebianMirror,
    Node20,
    /// Python can create virtual environments.
    Venv,
    /// A compiler has the sources of its standard library.
    RustSources,
}

/// How one knows that it is there, and the package of Debian and Ubuntu that brings it.
type Need = (Sign, &'static str);

const PLUGIN: [Need; 10] = [
    (Sign::Program("mvn"), "maven"),
    (Sign::Program("python3"), "python3"),
    (Sign::Program("patch"), "patch"),
    (Sign::Program("xz"), "xz-utils"),
    (Sign::Jdk17To21, JDK_17),
    (Sign::DebianMirror, "python-apt-common"),
    // apt checks the packages by it that the platform is built from.
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
const ROBOT: [Need; 4] = [
    (Sign::Program("xdotool"), "xdotool"),
    (Sign::Program("tmux"), "tmux"),
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

const GRADLE: [Need; 1] = [(Sign::Jdk21, JDK_21_BY_HAND)];
const NPM: [Need; 1] = [(Sign::Program("python3"), "python3")];

/// Debian 12 has an older one, so the user must install it.
const NODE: &str = "Node 20 or newer, with npm";

/// Debian 12 has this one, Debian 13 only [`JDK_21`], Ubuntu both.
const JDK_17: &str = "openjdk-17-jdk";
const JDK_21: &str = "openjdk-21-jdk";
const JDK_21_BY_HAND: &str = "a JDK 21 in JAVA_HOME, on the PATH or below /usr/lib/jvm";

const OS_RELEASE: &str = "/etc/os-release";

/// On Ubuntu, `python-apt-common` brings it.
const DEBIAN_MIRRORS: &str = "/usr/share/python-apt/templates/Debian.info";

/// The commands that work on systems other than Debian and Ubuntu.
const ELSEWHERE: &str = "This command needs Debian or Ubuntu. Elsewhere use `cargo xtask \
    test --portable`, and `cargo xtask run --ide HOME` with an installed IDE.";

/// Ensures that the needs of `works` are present, and asks once whether to install missing
/// packages. Installs them without asking with `yes` or `CI=true`, and for root without a terminal,
/// as in a container.
pub(crate) fn ensure(sh: &Shell, works: &[Work], yes: bool) -> Result {
    let has_jdk_21 = has_jdk_21_package(&std::fs::read_to_string(OS_RELEASE).unwrap_or_default());
    let look = || missing(works, has_jdk_21, |sign, package| sign.is_there(sh, package));
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
        missing.iter().partition(|need| [NODE, JDK_21_BY_HAND].contains(need));
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

/// The packages that are missing for `works`, each once.
fn missing(
    works: &[Work],
    has_jdk_21_package: bool,
    is_there: impl Fn(&Sign, &str) -> bool,
) -> Vec<&'static str> {
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
        let package = match *package {
            JDK_17 | JDK_21_BY_HAND if has_jdk_21_package => JDK_21,
            package => package,
        };
        if !missing.contains(&package) && !is_there(sign, package) {
            missing.push(package);
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
            // The recipe of the platform looks for one that opens windows.
            Self::Jdk17To21 => has_jdk(sh, 17..=21, "lib/libawt_xawt.so"),
            Self::Jdk21 => has_jdk(sh, 21..=21, "bin"),
            Self::DebianMirror => {
                Path::new(DEBIAN_MIRRORS).exists()
                    || var_os("DEBIAN_MIRROR").is_some()
                    || std::fs::read_to_string(OS_RELEASE).is_ok_and(|text| is_debian(&text))
            }
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

/// Whether there is a JDK of one of these versions with that file, in one of the usual places.
fn has_jdk(sh: &Shell, versions: RangeInclusive<u32>, file: &str) -> bool {
    let homes = [var_os("JAVA_HOME").map(PathBuf::from), javac_home()];
    let debian = sh.read_dir("/usr/lib/jvm").unwrap_or_default();
    homes.into_iter().flatten().chain(debian).any(|home| {
        let javac = home.join(format!("bin/javac{EXE_SUFFIX}"));
        let version = cmd!(sh, "{javac} -version").quiet().ignore_stderr().read();
        let version = version.ok().and_then(|version| jdk_version(&version));
        home.join(file).exists() && version.is_some_and(|version| versions.contains(&version))
    })
}

/// The major version in the output of `javac -version`.
fn jdk_version(output: &str) -> Option<u32> {
    let version = output.strip_prefix("javac ")?;
    version.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

/// Whether the system, by the text of `/etc/os-release`, has a package of a JDK 21.
fn has_jdk_21_package(os_release: &str) -> bool {
    let version = field(os_release, "VERSION_ID").and_then(|version| version.parse::<u32>().ok());
    // Debian's testing and unstable have no version.
    let is_new_debian = is_debian(os_release) && version.is_none_or(|version| version > 12);
    is_new_debian || field(os_release, "ID") == Some("ubuntu")
}

fn is_debian(os_release: &str) -> bool {
    field(os_release, "ID") == Some("debian")
}

fn field<'a>(os_release: &'a str, name: &str) -> Option<&'a str> {
    let fields = os_release.lines().filter_map(|line| line.split_once('='));
    let mut fields = fields.filter(|(field, _)| *field == name);
    fields.next().map(|(_, value)| value.trim_matches('"'))
}

/// The home of the JDK whose compiler is on the PATH.
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
        let missing = missing(&works, false, |_, _| false);
        for package in ["maven", "python3", "util-linux", "lua-check"] {
            assert_eq!(missing.iter().filter(|name| **name == package).count(), 1, "{package}");
        }
    }

    #[test]
    fn a_package_that_is_there_is_not_missing() {
        let is_there =
            |sign: &Sign, _: &str| matches!(sign, Sign::Program("mvn") | Sign::Jdk17To21);
        let missing = missing(&[Work::Plugin], false, is_there);
        assert!(!missing.contains(&"maven") && !missing.contains(&JDK_17));
        assert!(missing.contains(&"xz-utils"));
    }

    #[test]
    fn the_jdk_is_the_one_that_the_system_has_a_package_of() {
        let jdks = |os_release| {
            let missing = missing(
                &[Work::Plugin, Work::Gradle],
                has_jdk_21_package(os_release),
                |sign, _| !matches!(sign, Sign::Jdk17To21 | Sign::Jdk21),
            );
            missing.join(", ")
        };
        let debian_12 = "NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\n";
        for other in [debian_12, "ID=fedora", ""] {
            assert_eq!(jdks(other), format!("{JDK_17}, {JDK_21_BY_HAND}"), "{other}");
        }
        for other in
            ["VERSION_ID=\"13\"\nID=debian", "ID=debian", "ID=ubuntu\nVERSION_ID=\"24.04\""]
        {
            assert_eq!(jdks(other), JDK_21, "{other}");
        }
    }

    #[test]
    fn jdks_say_their_version_in_several_ways() {
        for (output, version) in [
            ("javac 17.0.15", Some(17)),
            ("javac 21", Some(21)),
            ("javac 25-ea", Some(25)),
            ("javac 1.8.0_402", Some(1)),
            ("", None),
        ] {
            assert_eq!(jdk_version(output), version, "{output}");
        }
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
