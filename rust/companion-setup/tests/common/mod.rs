//! Creates made-up machines in a folder for temporary files.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "some tests are for Linux"))]

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use companion_setup::{
    Client, Documents, Ide, Machine, Neovim, Os, Outcome, Package, Report, Setup,
};
use serde_json::json;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use zip::CompressionMethod::Stored;
use zip::write::{SimpleFileOptions, ZipWriter};

/// A made-up machine.
pub(crate) struct Made {
    _dir: TempDir,
    pub(crate) machine: Machine,
    pub(crate) clients: Vec<Client>,
    /// The program that setup installs, if there is one.
    pub(crate) program: Option<PathBuf>,
    /// Whether the user named the editors.
    pub(crate) is_named: bool,
    /// The completions and the man page, if setup installs them.
    pub(crate) documents: Option<Documents>,
}

impl Made {
    pub(crate) fn new(os: Os) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let home = root.join("home/me é");
        fs::create_dir_all(&home).unwrap();
        let (env, programs) = (BTreeMap::new(), Vec::new());
        let machine = Machine { os, root, home, env, programs, version_of };
        let settings = machine.home.join(".gemini/settings.json");
        let name = "Gemini CLI".to_owned();
        let clients = vec![Client {
            name,
            settings,
            allows_bom: false,
            extensions: None,
            hooks_off: None,
            refuses_copies: None,
        }];
        Self { _dir: dir, machine, clients, program: None, is_named: false, documents: None }
    }

    pub(crate) fn root(&self, path: &str) -> PathBuf {
        self.machine.root.join(path)
    }

    pub(crate) fn home(&self, path: &str) -> PathBuf {
        self.machine.home.join(path)
    }

    pub(crate) fn set(&mut self, name: &str, value: impl AsRef<Path>) {
        let value = value.as_ref().to_str().unwrap().to_owned();
        self.machine.env.insert(name.to_owned(), value);
    }

    /// Returns a folder of another user.
    #[cfg(unix)]
    pub(crate) fn of_another_user(&self) -> PathBuf {
        let dir = self.root("foreign");
        fs::create_dir(&dir).unwrap();
        // Only root may change an owner. For other users, the root folder belongs to another user.
        match std::os::unix::fs::chown(&dir, Some(4321), None) {
            Ok(()) => dir,
            Err(_) => "/".into(),
        }
    }

    /// Writes the `product-info.json` of an IDE into the folder `info`.
    pub(crate) fn ide(info: &Path, name: &str, build: &str, data: &str) -> PathBuf {
        Self::product(info, name, build, data, &json!({}))
    }

    /// Does the same with further fields.
    pub(crate) fn product(
        info: &Path,
        name: &str,
        build: &str,
        data: &str,
        more: &serde_json::Value,
    ) -> PathBuf {
        let mut product = json!({
            "name": name, "version": "2025.1", "buildNumber": build, "productCode": "IU",
            "dataDirectoryName": data, "productVendor": "JetBrains", "envVarBaseName": "IDEA",
            "modules": ["com.intellij.modules.platform"],
        });
        product.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        write(info.join("product-info.json"), &product.to_string());
        info.to_owned()
    }

    /// Returns the plugin's zip.
    pub(crate) fn package(&self, version: &str) -> Package {
        let file = self.root(&format!("plugin-{version}.zip"));
        fs::write(&file, plugin_zip("companion-for-gemini-cli", "dev.companion.gemini", version))
            .unwrap();
        Package::open(&file).unwrap()
    }

    /// Plans the steps for the whole machine.
    pub(crate) fn plan(&self, package: &Package) -> Report {
        self.setup(package, |setup| setup.plan().unwrap())
    }

    pub(crate) fn carry_out(&self, package: &Package) -> Report {
        self.setup(package, |setup| setup.carry_out().unwrap())
    }

    fn setup(&self, package: &Package, run: impl FnOnce(&Setup<'_>) -> Report) -> Report {
        let ides = Ide::find(&self.machine);
        let neovim = Neovim::find(&self.machine);
        run(&Setup {
            machine: &self.machine,
            ides: &ides,
            package: Ok(Some(package)),
            program: self.program.as_deref(),
            documents: self.documents.as_ref(),
            neovim: neovim.as_ref(),
            is_named: self.is_named,
            clients: &self.clients,
        })
    }

    pub(crate) fn remove(&self) -> Report {
        Setup::remove(&self.machine, |_| true, false).unwrap()
    }

    /// Installs one item, runs setup again, and removes the item. Checks that plans and a second
    /// run change nothing, and that nothing is left. `look` sees the installed item. Returns the
    /// messages.
    pub(crate) fn live(
        &self,
        package: &Package,
        subject: &str,
        look: impl FnOnce(&Path),
    ) -> [String; 5] {
        let message = |report: Report, outcome| {
            let step = report.steps.iter().find(|step| step.subject == subject).unwrap();
            assert_eq!(step.outcome, outcome, "{report}");
            (step.path.clone(), step.message.clone())
        };
        let before = self.files();
        let (planned_path, planned) = message(self.plan(package), Outcome::Planned);
        assert_eq!(self.files(), before, "a plan touches nothing");
        let (path, done) = message(self.carry_out(package), Outcome::Done);
        assert_eq!(path, planned_path);
        look(&path);
        let installed = self.files();
        let (_, again) = message(self.carry_out(package), Outcome::Unchanged);
        assert_eq!(self.files(), installed, "run twice it changes nothing");
        let planned_removal = self.plan_remove();
        assert_eq!(outcomes(&planned_removal), [(subject, Outcome::Planned)]);
        assert_eq!(self.files(), installed);
        let removal = self.remove();
        assert_eq!(outcomes(&removal), [(subject, Outcome::Done)]);
        assert_eq!(self.files(), before, "not even a folder is left");
        let (_, planned_removal) = message(planned_removal, Outcome::Planned);
        let (_, removed) = message(removal, Outcome::Done);
        [planned, done, again, planned_removal, removed]
    }

    /// Plans the removal.
    pub(crate) fn plan_remove(&self) -> Report {
        Setup::remove(&self.machine, |_| true, true).unwrap()
    }

    /// Changes the record: setup installed the files of this folder as they are now.
    pub(crate) fn adopt_files(&self, dir: &Path) {
        let hash = |bytes: &[u8]| {
            let digits = |hex, byte: &u8| format!("{hex}{byte:02x}");
            Sha256::digest(bytes).iter().fold(String::new(), digits)
        };
        let files = below(dir).into_iter();
        let sums = files.map(|(name, text)| {
            let name = name.to_str().unwrap().replace('\\', "/");
            format!("{}  {name}\n", hash(text.as_bytes()))
        });
        let hash = hash(sums.collect::<String>().as_bytes());
        self.change_record(|item| {
            if Path::new(item["path"].as_str().unwrap()) == dir {
                let what = item["what"].as_object_mut().unwrap();
                what.values_mut().next().unwrap()["hash"] = hash.clone().into();
            }
        });
    }

    /// Changes the record: a program of that version installed all items.
    pub(crate) fn set_version(&self, version: &str) {
        self.change_record(|item| item["version"] = version.into());
    }

    /// Changes the record: a run was about to replace each item.
    pub(crate) fn set_replacing(&self) {
        self.change_record(|item| {
            let what = item["what"].as_object_mut().unwrap().values_mut().next().unwrap();
            if let Some(hash) = what.get_mut("hash").map(serde_json::Value::take) {
                what["hash"] = "of the new one".into();
                item["replaces"] = vec![hash].into();
            }
        });
    }

    /// Changes the record: a run was about to install each item where none was.
    pub(crate) fn set_pending(&self) {
        self.change_record(|item| item["pending"] = true.into());
    }

    /// Returns the file of the record.
    pub(crate) fn record(&self) -> PathBuf {
        self.home(".local/state/companion-for-gemini-cli/setup.json")
    }

    fn change_record(&self, change: impl Fn(&mut serde_json::Value)) {
        let file = self.record();
        let mut record: serde_json::Value =
            serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        record["items"].as_array_mut().unwrap().iter_mut().for_each(change);
        fs::write(file, record.to_string()).unwrap();
    }

    /// Returns all files below the machine's root with their content, except zips.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        list(&self.machine.root, &mut files);
        files.retain(|(path, _)| path.extension().is_none_or(|extension| extension != "zip"));
        files.sort();
        files
    }
}

/// Returns all files below a folder, with their names relative to the folder.
pub(crate) fn below(dir: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(next) = dirs.pop() {
        for entry in fs::read_dir(next).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().to_owned();
                files.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn list(dir: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            files.push((path.clone(), Vec::new()));
            list(&path, files);
        } else {
            files.push((path.clone(), fs::read(&path).unwrap_or_default()));
        }
    }
}

/// Returns the version of a made-up program: of `version 0.0.1` that one, of `broken` none, and of
/// any other the current one.
fn version_of(program: &Path) -> Result<String, String> {
    let text = fs::read_to_string(program).unwrap();
    match text.strip_prefix("version ") {
        _ if text == "broken" => Err("it is another program".to_owned()),
        Some(version) => Ok(version.to_owned()),
        None => Ok(env!("CARGO_PKG_VERSION").to_owned()),
    }
}

/// Writes a file, and creates the folders above it.
pub(crate) fn write(path: impl AsRef<Path>, content: &str) -> PathBuf {
    let path = path.as_ref();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    path.to_owned()
}

/// Writes a file that the system can start.
pub(crate) fn write_program(path: impl AsRef<Path>, content: &str) -> PathBuf {
    let path = write(path, content);
    #[cfg(unix)]
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path
}

/// Returns a zip like the plugin's.
pub(crate) fn plugin_zip(root: &str, id: &str, version: &str) -> Vec<u8> {
    let xml = format!(
        "<idea-plugin><id>{id}</id><version>{version}</version>\
         <idea-version since-build=\"242\"/></idea-plugin>"
    );
    let jar = zip(&[("META-INF/plugin.xml", xml.as_bytes())]);
    let path = |name: &str| format!("{root}/{name}");
    zip(&[
        (&path("lib/plugin.jar"), &*jar),
        (&path("native/linux-x64/libcompanion_jni.so"), version.as_bytes()),
    ])
}

pub(crate) fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(Stored)).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Returns the outcome and path of each subject.
pub(crate) fn outcomes(report: &Report) -> Vec<(&str, Outcome)> {
    report.steps.iter().map(|step| (&*step.subject, step.outcome)).collect()
}
