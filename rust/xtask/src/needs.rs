//! What the commands need and cargo does not bring: known here, looked for before anything takes
//! long, and installed where that is a matter of Debian's packages.

use std::env::var_os;
use std::io::{IsTerminal, stdin};
use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::Result;
use crate::dist::compile;

/// Something that commands do.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// Building the platform, and the plugin for it.
    Plugin,
    /// Starting the real client.
    Client,
    /// Opening windows on a virtual display.
    Display,
    /// Using windows as a user does, and looking at them.
    Robot,
    /// Checking GitHub's workflows.
    Workflows,
    /// What only the tests need.
    Tests,
    /// Making a bare machine.
    Bare,
    /// Compiling for other systems.
    Dist,
    /// Running what is compiled for them.
    DistTest,
}

/// How one knows that something is there.
enum Sign {
    Program(&'static str),
    File(&'static str),
    /// Debian has installed the package.
    Installed,
    Jdk17,
    Node20,
    /// Python can make environments of its own.
    Venv,
    /// A compiler has the sources of its library.
    RustSources,
}

/// How one knows that it is there, and the package of Debian 12 that brings it.
type Need = (Sign, &'static str);

const PLUGIN: [Need; 9] = [
    (Sign::Program("mvn"), "maven"),
    (Sign::Program("python3"), "python3"),
    (Sign::Program("patch"), "patch"),
    (Sign::Program("xz"), "xz-utils"),
    (Sign::Jdk17, "openjdk-17-jdk"),
    // apt checks the packages by it that the platform is built from.
    (Sign::File("/usr/share/keyrings/debian-archive-keyring.gpg"), "debian-archive-keyring"),
    (Sign::Installed, "fonts-dejavu-core"),
    (Sign::Installed, "libfontconfig1"),
    (Sign::Installed, "libfreetype6"),
];
const CLIENT: [Need; 1] = [(Sign::Node20, NODE)];
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
    // Containers without Docker, and a machine to reach by SSH.
    (Sign::Program("unshare"), "util-linux"),
    (Sign::Program("nsenter"), "util-linux"),
    (Sign::Program("ip"), "iproute2"),
    (Sign::Program("bwrap"), "bubblewrap"),
    (Sign::Program("ssh"), "openssh-client"),
    (Sign::Program("dropbear"), "dropbear-bin"),
    // A disk that does not answer.
    (Sign::Program("bindfs"), "bindfs"),
    // The plugin for Neovim.
    (Sign::Program("nvim"), "neovim"),
    (Sign::Program("luacheck"), "lua-check"),
];

const BARE: [Need; 3] = [
    (Sign::Program("mmdebstrap"), "mmdebstrap"),
    (Sign::Program("unshare"), "util-linux"),
    (Sign::Program("git"), "git"),
];
const DIST: [Need; 6] = [
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

/// Debian 12 has an older one, so that the user has to bring it.
const NODE: &str = "Node 20 or newer, with npm";

/// Sees to it that all is there for `works`: asks once whether to install what is not, unless `yes`
/// or `CI=true` has answered that.
pub(crate) fn ensure(sh: &Shell, works: &[Work], yes: bool) -> Result {
    let missing = missing(sh, works);
    if missing.is_empty() {
        return Ok(());
    }
    let all = missing.join(" ");
    let (by_hand, packages): (Vec<_>, Vec<_>) = missing.into_iter().partition(|need| *need == NODE);
    if !by_hand.is_empty() || !is_there("apt-get") {
        return Err(format!("missing, by the names of Debian's packages: {all}").into());
    }
    let is_root = cmd!(sh, "id -u").quiet().read()? == "0";
    let install = format!("apt-get install --no-install-recommends {all}");
    if !is_root && !is_there("sudo") {
        return Err(format!("missing; as root: {install}").into());
    }
    if !yes && var_os("CI").is_none_or(|value| value != "true") && !is_agreed(&install)? {
        return Err(format!("missing; with --yes it is installed: {install}").into());
    }
    println!("installing {all}");
    let as_root: &[&str] = if is_root { &[] } else { &["sudo"] };
    let apt = [as_root, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]].concat();
    let (program, arguments) = (apt[0], &apt[1..]);
    cmd!(sh, "{program} {arguments...} update").quiet().run()?;
    let install = cmd!(sh, "{program} {arguments...} install --yes --no-install-recommends");
    install.args(packages).quiet().ignore_stdout().run()?;
    match self::missing(sh, works) {
        still if still.is_empty() => Ok(()),
        still => Err(format!("still missing: {}", still.join(" ")).into()),
    }
}

/// The packages that are missing for `works`, each once.
fn missing(sh: &Shell, works: &[Work]) -> Vec<&'static str> {
    let needs = works.iter().flat_map(|work| match work {
        Work::Plugin => &PLUGIN[..],
        Work::Client => &CLIENT,
        Work::Display => &DISPLAY,
        Work::Robot => &ROBOT,
        Work::Workflows => &WORKFLOWS,
        Work::Tests => &TESTS,
        Work::Bare => &BARE,
        Work::Dist => &DIST,
        Work::DistTest => &DIST_TEST,
    });
    let mut missing = Vec::new();
    for (sign, package) in needs {
        let is_there = match sign {
            Sign::Program(name) => is_there(name),
            Sign::File(path) => Path::new(path).exists(),
            Sign::Installed => is_installed(sh, package),
            Sign::Jdk17 => has_jdk_17(sh),
            Sign::Node20 => has_node_20(sh),
            Sign::Venv => cmd!(sh, "python3 -m ensurepip --version")
                .quiet()
                .ignore_stdout()
                .ignore_stderr()
                .run()
                .is_ok(),
            Sign::RustSources => compile::with_sources(sh).is_some(),
        };
        if !is_there && !missing.contains(package) {
            missing.push(*package);
        }
    }
    missing
}

/// Whether the user wants it. Without a terminal there is nobody to ask.
fn is_agreed(install: &str) -> Result<bool> {
    if !stdin().is_terminal() {
        return Ok(false);
    }
    println!("{install}\nThis is needed and missing. Install it now? [Y/n]");
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
}

fn is_there(program: &str) -> bool {
    let path = var_os("PATH").unwrap_or_default();
    // Where Debian has what is root's, which is not on every user's PATH.
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(program)).any(|file| file.is_file())
}

fn is_installed(sh: &Shell, package: &str) -> bool {
    let status = "--showformat=${db:Status-Status}";
    let status = cmd!(sh, "dpkg-query --show {status} {package}");
    status.quiet().ignore_stderr().read().is_ok_and(|status| status == "installed")
}

/// Whether there is a JDK 17 that opens windows, where the recipe of the platform looks for it.
fn has_jdk_17(sh: &Shell) -> bool {
    let homes = [var_os("JAVA_HOME").map(PathBuf::from), javac_home()];
    let debian = sh.read_dir("/usr/lib/jvm").unwrap_or_default();
    homes.into_iter().flatten().chain(debian).any(|home| {
        let javac = home.join("bin/javac");
        let version = cmd!(sh, "{javac} -version").quiet().ignore_stderr().read();
        home.join("lib/libawt_xawt.so").exists()
            && version.is_ok_and(|version| version.starts_with("javac 17."))
    })
}

/// The home of the JDK whose compiler is on the PATH.
fn javac_home() -> Option<PathBuf> {
    let path = var_os("PATH")?;
    let mut javac = std::env::split_paths(&path).map(|folder| folder.join("javac"));
    let javac = javac.find_map(|file| file.canonicalize().ok())?;
    Some(javac.parent()?.parent()?.to_owned())
}

fn has_node_20(sh: &Shell) -> bool {
    let version = cmd!(sh, "node --version").quiet().ignore_stderr().read().unwrap_or_default();
    let major = version.trim_start_matches('v').split('.').next();
    is_there("npm")
        && major.and_then(|major| major.parse().ok()).is_some_and(|major: u32| major >= 20)
}
