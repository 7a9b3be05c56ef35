//! Finds the ignore files that `core.excludesFile` names in the configuration of Git, without files that
//! it includes.

use std::collections::HashMap;
use std::env::{home_dir, var_os};
use std::path::{Path, PathBuf};

use companion_platform::GitDirs;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::files::{SETTLE_TIME, read_file};

/// The user's ignore file, for all repositories or for one worktree, and the files that decide which.
#[derive(Clone, Debug, Default)]
pub(super) struct Excludes {
    /// `None` if no file names one.
    pub(super) file: Option<PathBuf>,
    /// The files of the configuration, also missing ones.
    pub(super) configs: Vec<PathBuf>,
}

impl Excludes {
    /// Finds the file for all repositories: the one that the user's configuration names, or the default.
    pub(super) fn of_user() -> Self {
        let variable = |name| var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let in_home = |name: &str| Some(home_dir()?.join(name));
        let folder = variable("XDG_CONFIG_HOME").or_else(|| in_home(".config"));
        let folder = folder.map(|folder| folder.join("git"));
        // The first one with a value counts.
        let mut configs: Vec<PathBuf> = Vec::new();
        if let Some(global) = variable("GIT_CONFIG_GLOBAL") {
            configs.push(global);
        } else {
            configs.extend(in_home(".gitconfig"));
            configs.extend(folder.as_ref().map(|folder| folder.join("config")));
        }
        configs.push(variable("GIT_CONFIG_SYSTEM").unwrap_or_else(|| "/etc/gitconfig".into()));
        let named = configs.iter().find_map(|config| named_in(&text(config)?));
        let file = named.or_else(|| Some(folder?.join("ignore")));
        Self { file, configs }
    }

    /// Finds the file that counts for a worktree: the one that its configuration or the repository's names,
    /// or `user`, the one for all repositories. Git goes to the worktree's uppermost folder before it opens
    /// a relative path.
    pub(super) fn of_worktree(worktree: &Path, dirs: &GitDirs, user: Option<&PathBuf>) -> Self {
        let (config, of_worktree) = (dirs.common.join("config"), dirs.own.join("config.worktree"));
        let shared = text(&config).unwrap_or_default();
        let has_own = last_value(&shared, "extensions", "worktreeConfig");
        let own =
            has_own.filter(|value| is_true(value)).and_then(|_| named_in(&text(&of_worktree)?));
        let mut file = own.or_else(|| named_in(&shared)).or_else(|| user.cloned());
        // An empty name means no file.
        if let Some(file) = file.as_mut().filter(|file| !file.as_os_str().is_empty()) {
            *file = worktree.join(&*file);
        }
        Self { file, configs: vec![config, of_worktree] }
    }
}

/// The user's ignore file of each worktree, and the ones before changes of the configuration that may not
/// have settled.
#[derive(Debug, Default)]
pub(super) struct NamedFiles(Mutex<HashMap<PathBuf, NamedFile>>);

#[derive(Clone, Debug, Default)]
pub(super) struct NamedFile {
    /// The present one.
    now: Option<PathBuf>,
    /// The ones before, and the end of each.
    before: Vec<(PathBuf, Instant)>,
}

impl NamedFiles {
    /// Notes the file that counts for a worktree now.
    pub(super) fn note(&self, worktree: &Path, now: Option<PathBuf>) -> NamedFile {
        let mut files = self.0.lock();
        let known = files.entry(worktree.to_owned()).or_default();
        known.before.retain(|(_, until)| *until > Instant::now());
        if known.now != now {
            let before = std::mem::replace(&mut known.now, now);
            let until = Instant::now() + SETTLE_TIME;
            known.before.extend(before.map(|file| (file, until)));
        }
        known.clone()
    }
}

impl NamedFile {
    /// The files that count.
    pub(super) fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.now.iter().chain(self.before.iter().map(|(file, _)| file))
    }

    /// When only the present one counts.
    pub(super) fn settles(&self) -> Option<Instant> {
        self.before.iter().map(|(_, until)| *until).max()
    }
}

/// Returns the file that this configuration names.
fn named_in(config: &str) -> Option<PathBuf> {
    let named = last_value(config, "core", "excludesFile")?;
    match named.strip_prefix("~/") {
        Some(rest) => Some(home_dir()?.join(rest)),
        None => Some(PathBuf::from(named)),
    }
}

fn text(file: &Path) -> Option<String> {
    Some(String::from_utf8_lossy(&read_file(file).ok()?).into_owned())
}

/// Whether Git takes this value for *true*.
fn is_true(value: &str) -> bool {
    ["true", "yes", "on", "1"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

/// Returns the last value of a variable.
fn last_value(config: &str, section: &str, variable: &str) -> Option<String> {
    let mut last = None;
    let mut is_in_section = false;
    for line in config.trim_start_matches('\u{feff}').lines() {
        let mut line = line.trim_start();
        if let Some((name, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            is_in_section = name.trim().eq_ignore_ascii_case(section);
            line = rest;
        }
        if let Some((name, written)) = line.split_once('=')
            && is_in_section
            && name.trim().eq_ignore_ascii_case(variable)
        {
            last = Some(value(written));
        }
    }
    last
}

/// Returns a value without quotes, escapes and a comment. It is in one line.
fn value(written: &str) -> String {
    let mut value = String::new();
    // A space at the end counts only in quotes.
    let mut end = 0;
    let mut is_quoted = false;
    let mut chars = written.trim_start().chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => value.extend(chars.next()),
            c => value.push(c),
        }
        if is_quoted || !c.is_whitespace() {
            end = value.len();
        }
    }
    value.truncate(end);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_git_reads_it() {
        for (config, expected) in [
            ("[core]\n\texcludesFile = ~/my rules  \n", Some("~/my rules")),
            ("\u{feff}[CORE]\r\nEXCLUDESFILE=/a\r\n", Some("/a")),
            ("[core] excludesfile = /a # mine", Some("/a")),
            ("[core]\nexcludesfile = \"/a # b \" ; mine", Some("/a # b ")),
            (
                "[core]\nexcludesfile = C:\\\\Users\\\\JANE~1\\\\rules",
                Some(r"C:\Users\JANE~1\rules"),
            ),
            ("[core]\nexcludesfile = /a\n[x]\nexcludesfile = /b", Some("/a")),
            (
                "[core]\nexcludesfile = /a\n[core]\n# excludesfile = /c\nexcludesfile = /b",
                Some("/b"),
            ),
            ("[core \"x\"]\nexcludesfile = /a", None),
            ("[core]\neditor = vi\nexcludesfile", None),
        ] {
            let found = last_value(config, "core", "excludesFile");
            assert_eq!(found.as_deref(), expected, "{config}");
        }
    }
}
