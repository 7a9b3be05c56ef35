//! Runs the demo and the tests on a bare machine: a Debian root with a new user, and only Rust and
//! Node as toolchains. The commands must install everything else.

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::Result;
use crate::test::step;

/// The packages that Rust and a user need besides a toolchain.
const PACKAGES: &str = "ca-certificates,gcc,libc6-dev,sudo";

/// Runs `commands` (`demo`, `test`), one after the other: as a new user who agrees to all with
/// `--yes`, or `as_root`, as in a container, where nobody can be asked.
pub(crate) fn run(sh: &Shell, commands: &[String], as_root: bool) -> Result {
    if cmd!(sh, "id -u").quiet().read()? != "0" {
        return Err("only root can make the root of a bare machine".into());
    }
    let root = sh.current_dir().join("target/bare");
    sh.remove_path(&root)?;
    let (user, yes) = if as_root { ("root", "") } else { ("dev", "--yes ") };
    step("a bare machine", || make(sh, &root, user))?;
    let rust = cmd!(sh, "rustc --print sysroot").quiet().read()?;
    let node = cmd!(sh, "node --print process.execPath").quiet().read()?;
    let npm = PathBuf::from(cmd!(sh, "npm root --global").quiet().ignore_stderr().read()?);
    let npm = npm.join("npm");
    for command in commands {
        let command = format!("cargo xtask {yes}{command}");
        step(&command, || {
            let namespaces = ["--mount", "--propagation=private", "--pid", "--fork"];
            let enter = cmd!(sh, "unshare {namespaces...} --kill-child sh tools/bare/enter.sh");
            let enter = enter.arg(&root).args([&rust, &node]).arg(&npm);
            Ok(enter.args([user, &command]).stdin("").quiet().run()?)
        })?;
    }
    Ok(sh.remove_path(root)?)
}

/// Creates a Debian with the machine's own apt, and a user `dev`. `owner` has a clone of this checkout.
fn make(sh: &Shell, root: &Path, owner: &str) -> Result {
    let sources = sh.read_dir("/etc/apt/sources.list.d")?.into_iter();
    let sources = sources.chain(["/etc/apt/sources.list".into()]).filter(|file| {
        let ending = file.extension().unwrap_or_default();
        file.exists() && (ending == "list" || ending == "sources")
    });
    let options = sh.create_temp_dir()?;
    let apt = options.path().join("apt.conf");
    sh.write_file(&apt, cmd!(sh, "apt-config dump --no-empty Acquire").quiet().read()?)?;
    // Before the installation of any package that uses them.
    let certificates = "mkdir -p \"$1\"/usr/local/share && \
        cp -r /usr/local/share/ca-certificates \"$1\"/usr/local/share";
    let user = "cp /etc/hosts \"$1\"/etc && chroot \"$1\" useradd --create-home dev && \
        echo 'dev ALL=(ALL) NOPASSWD: ALL' > \"$1\"/etc/sudoers.d/dev";
    let here = sh.current_dir();
    let here = here.display();
    let clone = format!(
        "git clone --quiet --depth 1 'file://{here}' \"$1\"/home/dev/companion && \
         chroot \"$1\" chown --recursive {owner}:{owner} /home/dev/companion"
    );
    // In a private mount namespace, because mmdebstrap mounts the machine's own files. A killed run
    // leaves no mount through which the next run could delete them.
    let alone = cmd!(sh, "unshare --mount --propagation=private mmdebstrap --quiet --mode=root");
    let make = alone
        .args(["--variant=minbase".into(), format!("--include={PACKAGES}")])
        .arg(format!("--aptopt={}", apt.display()))
        .arg(format!("--setup-hook={certificates}"))
        .arg(format!("--customize-hook={user}"))
        .arg(format!("--customize-hook={clone}"));
    Ok(make.args(["bookworm".as_ref(), root]).args(sources).quiet().run()?)
}
