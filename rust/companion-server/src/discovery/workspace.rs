//! Writes the member `workspacePath` of the discovery file.

use std::path::PathBuf;

use companion_platform::{Platform, relative_to};

/// The paths as texts for clients.
pub(crate) fn texts(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Joins the roots to one list. Leaves out duplicates and roots within another root, because the
/// client adds each entry except its own directory to the model's include directories.
pub(crate) fn workspace_path(platform: Platform, roots: &[String]) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for (position, root) in roots.iter().enumerate() {
        let within_another = roots.iter().enumerate().any(|(other, ancestor)| {
            let rest = relative_to(platform, root, ancestor);
            // The first of two equal roots stays.
            rest.is_some_and(|rest| !is_only_separators(rest) || other < position)
        });
        if !within_another {
            kept.push(root);
        }
        if root.contains(platform.list_separator()) {
            log::warn!(
                "the CLI cannot distinguish a `{}` in a folder's name from one between two folders",
                platform.list_separator()
            );
        }
    }
    kept.join(&platform.list_separator().to_string())
}

fn is_only_separators(rest: &str) -> bool {
    rest.trim_matches(['/', '\\']).is_empty()
}
