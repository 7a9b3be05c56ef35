//! Checks whether a folder is in a workspace (`validateWorkspacePath`, and `utils/paths.js`).

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use companion_platform::{Platform, is_absolute, relative_to, strip_verbatim};
use companion_protocol::profile::Roots;

/// The reason why the client does not connect from its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkspaceError {
    /// Neither a file nor a variable names a workspace.
    Unknown,
    /// The editor has no folder open.
    Empty,
    /// The editor has other folders open: these, with resolved links.
    Elsewhere(Vec<PathBuf>),
}

/// Checks that `cwd` is in one of the folders of the list `workspace_path`. Resolves links.
pub fn validate(
    rules: Roots,
    workspace_path: Option<&str>,
    cwd: &Path,
) -> Result<(), WorkspaceError> {
    let list = workspace_path.ok_or(WorkspaceError::Unknown)?;
    if list.is_empty() {
        return Err(WorkspaceError::Empty);
    }
    let mut real = real_path(&normalize(cwd), 0);
    let roots: Vec<_> = match rules {
        Roots::Uris => {
            // The client decodes its own folder, too, so both have the same name.
            if let Some(cwd_text) = cwd.to_str() {
                real = resolve_to_real_path(cwd_text, cwd);
            }
            let roots = list.split(Platform::CURRENT.list_separator());
            roots.map(|root| resolve_to_real_path(root, cwd)).collect()
        }
        Roots::Paths => {
            let array = serde_json::from_str::<Vec<String>>(list).ok();
            let roots = array.unwrap_or_else(|| {
                list.split(Platform::CURRENT.list_separator()).map(str::to_owned).collect()
            });
            let roots = roots.iter().filter(|root| is_absolute(Platform::CURRENT, root));
            roots.map(|root| real_path(&normalize(Path::new(root)), 0)).collect()
        }
    };
    if roots.iter().any(|root| contains(root, &real)) {
        Ok(())
    } else {
        Err(WorkspaceError::Elsewhere(roots))
    }
}

fn contains(root: &Path, path: &Path) -> bool {
    let (mut root, mut path) =
        (root.to_string_lossy().into_owned(), path.to_string_lossy().into_owned());
    if cfg!(target_os = "macos") {
        (root, path) = (root.to_lowercase(), path.to_lowercase());
    }
    relative_to(Platform::CURRENT, &path, &root).is_some()
}

/// Resolves a path as Gemini CLI does. It removes `file://`, and decodes percent signs if all of them
/// are valid. Then it does the same as [`resolve_path`].
pub fn resolve_to_real_path(text: &str, cwd: &Path) -> PathBuf {
    let local = text.strip_prefix("file://").filter(|path| path.starts_with('/')).unwrap_or(text);
    let decoded = decode_uri_component(local);
    resolve_path(decoded.as_deref().unwrap_or(local), cwd)
}

/// Resolves links as far as the path exists. A relative path starts at `cwd`.
pub fn resolve_path(path: &str, cwd: &Path) -> PathBuf {
    real_path(&normalize(&cwd.join(path)), 0)
}

/// Does the same as JavaScript's `decodeURIComponent`. Returns `None` if that throws.
pub(crate) fn decode_uri_component(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            u8::try_from(digit()? * 16 + digit()?).ok()?
        } else {
            byte
        });
    }
    String::from_utf8(decoded).ok()
}

/// Removes `.` and `..` by name only, like Node's `path.resolve`.
pub fn normalize(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            other => normal.push(other),
        }
    }
    normal
}

/// Resolves links, even to missing targets. `depth` ends a cycle of links.
fn real_path(path: &Path, depth: usize) -> PathBuf {
    const MAX_DEPTH: usize = 64;
    match path.canonicalize() {
        Ok(real) => strip_verbatim(real),
        Err(error)
            if depth < MAX_DEPTH
                && matches!(
                    error.kind(),
                    ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename
                ) =>
        {
            if let Ok(target) = path.read_link() {
                let parent = path.parent().unwrap_or(path);
                return real_path(&normalize(&parent.join(target)), depth + 1);
            }
            match (path.parent(), path.file_name()) {
                (Some(parent), Some(name)) => real_path(parent, depth + 1).join(name),
                _ => path.to_owned(),
            }
        }
        Err(_) => path.to_owned(),
    }
}
