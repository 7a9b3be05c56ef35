//! Reads the released plugin: a zip with one folder. A jar in its `lib` describes the plugin.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Cursor, Read, Seek};
use std::path::{Component, Path, PathBuf};

use zip::ZipArchive;

use crate::content::{Files, name_in};
use crate::installed_ide::Build;
use crate::record::is_newer;

/// The id of the plugin.
pub(crate) const PLUGIN_ID: &str = "dev.companion.gemini";

/// A file that can't be installed.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// The file can't be read.
    #[error("can't read {0}: {1}")]
    Unreadable(PathBuf, zip::result::ZipError),
    /// The file is not the plugin's zip.
    #[error("{0} is not the plugin's zip: {1}")]
    Foreign(PathBuf, String),
}

/// The plugin's zip.
#[derive(Debug)]
pub struct Package {
    file: PathBuf,
    /// The only folder in the zip.
    pub(crate) root: String,
    pub(crate) plugin: Plugin,
}

/// The plugin's own metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plugin {
    pub(crate) id: String,
    pub(crate) version: String,
    since: Option<Build>,
    until: Option<Build>,
}

/// The largest size of a file in a package, in bytes.
const LARGEST: u64 = 256 << 20;

impl Package {
    /// Opens the plugin's zip that came with a program: in `dir`, next to the program, or in the
    /// `share` folder of its installation. Of several zips in a folder, the newest that is readable.
    pub fn find(dir: Option<&Path>, program: &Path) -> Result<Option<Self>, PackageError> {
        let above = program.ancestors().skip(1).take(2);
        let share = above.clone().map(|dir| dir.join("share/gemini-companion"));
        for dir in dir.into_iter().chain(above).map(Path::to_owned).chain(share) {
            let mut found: Option<Result<Self, PackageError>> = None;
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                let file = entry.path();
                let name = entry.file_name();
                let is_ours = name.as_encoded_bytes().starts_with(b"companion-for-gemini-cli");
                if !is_ours || file.extension() != Some("zip".as_ref()) {
                    continue;
                }
                let package = Self::open(&file);
                let is_better = match (&package, &found) {
                    (_, None) | (Ok(_), Some(Err(_))) => true,
                    (Ok(new), Some(Ok(known))) => is_newer(new.version(), known.version()),
                    (Err(_), Some(_)) => false,
                };
                if is_better {
                    found = Some(package);
                }
            }
            if found.is_some() {
                return found.transpose();
            }
        }
        Ok(None)
    }

    /// Reads the metadata of a zip.
    pub fn open(file: &Path) -> Result<Self, PackageError> {
        let unreadable = |error| PackageError::Unreadable(file.to_owned(), error);
        let foreign = |why: &str| PackageError::Foreign(file.to_owned(), why.to_owned());
        let mut archive = File::open(file)
            .map_err(|error| unreadable(error.into()))
            .and_then(|file| ZipArchive::new(file).map_err(unreadable))?;
        let mut roots = BTreeSet::new();
        let mut plugin = None;
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index).map_err(unreadable)?;
            let Some(path) = entry.enclosed_name() else {
                return Err(foreign("a path leads out of it"));
            };
            if entry.size() > LARGEST || entry.is_symlink() {
                return Err(foreign("it contains a link or a file that is too large"));
            }
            if let Some(Component::Normal(root)) = path.components().next() {
                roots.insert(root.to_string_lossy().into_owned());
            }
            let is_jar = path.extension().is_some_and(|extension| extension == "jar");
            if plugin.is_none() && is_jar {
                let mut jar = Vec::new();
                entry.read_to_end(&mut jar).map_err(|error| unreadable(error.into()))?;
                plugin = Plugin::in_jar(Cursor::new(jar));
            }
        }
        let (Some(root), true) = (roots.pop_first(), roots.is_empty()) else {
            return Err(foreign("it does not have exactly one folder"));
        };
        let plugin = plugin.ok_or_else(|| foreign("no jar in it describes a plugin"))?;
        if plugin.id != PLUGIN_ID {
            return Err(foreign(&format!("it contains the plugin {}", plugin.id)));
        }
        Ok(Self { file: file.to_owned(), root, plugin })
    }

    /// Returns the plugin's version.
    pub fn version(&self) -> &str {
        &self.plugin.version
    }

    /// Returns whether the plugin supports IDEs of that build.
    pub fn fits(&self, build: &Build) -> bool {
        let Plugin { since, until, .. } = &self.plugin;
        since.as_ref().is_none_or(|since| build >= since)
            && until.as_ref().is_none_or(|until| build <= until)
    }

    /// Reads the plugin's files.
    pub(crate) fn files(&self) -> io::Result<Files> {
        let mut archive = ZipArchive::new(File::open(&self.file)?)?;
        let mut files = Files::new();
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index)?;
            if entry.is_dir() {
                continue;
            }
            let path = entry.enclosed_name().ok_or(io::ErrorKind::InvalidData)?;
            let mut content = Vec::new();
            entry.read_to_end(&mut content)?;
            files.insert(name_in(&self.root, &path), content);
        }
        Ok(files)
    }
}

impl Plugin {
    /// Returns the plugin that is installed in a folder, or that is a single jar.
    pub(crate) fn installed(path: &Path) -> Option<Self> {
        if path.extension().is_some_and(|extension| extension == "jar") {
            return Self::in_jar(File::open(path).ok()?);
        }
        let jars = fs::read_dir(path.join("lib")).ok()?;
        let mut jars = jars.flatten().map(|entry| entry.path()).filter(|path| path.is_file());
        jars.find_map(|jar| Self::in_jar(File::open(jar).ok()?))
    }

    fn in_jar(jar: impl Read + Seek) -> Option<Self> {
        let mut jar = ZipArchive::new(jar).ok()?;
        let mut text = String::new();
        let entry = jar.by_name("META-INF/plugin.xml").ok()?;
        entry.take(LARGEST).read_to_string(&mut text).ok()?;
        Self::parse(&text)
    }

    fn parse(xml: &str) -> Option<Self> {
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(xml, options).ok()?;
        let child =
            |name: &str| document.root_element().children().find(|of| of.has_tag_name(name));
        let text = |name: &str| Some(child(name)?.text()?.trim().to_owned());
        let build = |name: &str| Build::parse(child("idea-version")?.attribute(name)?);
        Some(Self {
            id: text("id").or_else(|| text("name"))?,
            // A plugin that was built for tests has no version.
            version: text("version").unwrap_or_else(|| "a version without a number".to_owned()),
            since: build("since-build"),
            until: build("until-build"),
        })
    }
}
