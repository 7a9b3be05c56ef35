//! Builds the IDE platform of 2018.3 with `tools/platform183` into the cache (`cargo xtask
//! platform`).
//!
//! `tools/platform183/README.md` describes its folder.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, PipeReader};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread::{self, JoinHandle};

use xshell::{Shell, cmd};

use crate::{Result, tools};

const RECIPE: &str = "tools/platform183";

/// A build of the platform in a process beside this one.
pub(crate) struct Build {
    process: Child,
    output: PipeReader,
}

impl Build {
    /// Starts a build unless the platform is there. Its output waits for [`Self::follow`]. On two cores
    /// that compile the program, it gets a tenth of a core, and what the compiler leaves.
    pub(crate) fn start(sh: &Shell) -> Result<Option<Self>> {
        if home(sh)?.exists() {
            return Ok(None);
        }
        let (output, writer) = io::pipe()?;
        let mut command = tools::xtask_beside(sh, "10", &["platform"]);
        let process = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
        Ok(Some(Self { process, output }))
    }

    /// Prints its output in a thread, which returns its result.
    pub(crate) fn follow(mut self) -> JoinHandle<io::Result<()>> {
        thread::spawn(move || {
            io::copy(&mut self.output, &mut io::stdout())?;
            let is_built = self.process.wait()?.success();
            is_built.then_some(()).ok_or_else(|| io::Error::other(NOT_BUILT))
        })
    }
}

const NOT_BUILT: &str = "the platform is not built; what is wrong is said above";

/// Builds the platform, or prints where it is.
pub(crate) fn build(sh: &Shell) -> Result {
    let home = home(sh)?;
    if home.exists() {
        println!("the platform is already built: {}", home.display());
        return Ok(());
    }
    platform(sh)?;
    Ok(())
}

/// Returns the folder of the platform. Builds it if needed.
pub(crate) fn platform(sh: &Shell) -> Result<PathBuf> {
    let home = home(sh)?;
    // The folder gets this name only when it is complete; the recipe ensures that.
    if !home.exists() {
        println!("building the platform, once: 4 to 6 minutes on two cores");
        let build = cmd!(sh, "bash {RECIPE}/build.sh {home}").quiet();
        build.run().map_err(|_| NOT_BUILT)?;
    }
    Ok(home)
}

/// Returns the folder's path. Another recipe builds another platform, under another name. The
/// recipe's documentation does not count.
fn home(sh: &Shell) -> Result<PathBuf> {
    // A newer Rust may hash differently. Then the platform is built again.
    let mut hasher = DefaultHasher::new();
    hash_folder(sh, Path::new(RECIPE), &mut hasher)?;
    Ok(tools::cache_dir()?.join(format!("platform183-{:016x}", hasher.finish())))
}

/// Hashes the names and contents of all files below a folder, in the order of their names.
fn hash_folder(sh: &Shell, folder: &Path, hasher: &mut DefaultHasher) -> Result {
    for path in sh.read_dir(folder)? {
        if path.is_dir() {
            hash_folder(sh, &path, hasher)?;
        } else if path.extension() != Some("md".as_ref()) {
            path.strip_prefix(sh.current_dir())?.hash(hasher);
            sh.read_binary_file(&path)?.hash(hasher);
        }
    }
    Ok(())
}
