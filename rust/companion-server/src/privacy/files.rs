//! Reads ignore files, and logs what is wrong in them. Every check reads them, so that nothing stale
//! can mislead, and parses them only after a change.

use std::collections::HashMap;
use std::fs::symlink_metadata;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use companion_platform::read_plain_file;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::rules::{MAX_BYTES, MAX_COMPILED, Rules};

/// The time that replaced rules stay in force, so that files can settle. Many programs write a file
/// by emptying or removing it first, and no private file may be shared in between.
pub(crate) const SETTLE_TIME: Duration = Duration::from_millis(500);

/// The most changes within that time that keep their rules. After more changes every file is
/// private for that time.
pub(super) const MAX_CHANGES: usize = 16;

/// The most invalid lines of a file that are logged one by one.
const MAX_LOGGED_LINES: usize = 5;

/// The rules that are in force because of an ignore file.
#[derive(Clone, Debug, Default)]
pub(super) struct EffectiveRules {
    /// `None` if there is no such file.
    pub(super) rules: Option<Arc<Rules>>,
    /// The replaced rules, and the end of each; the newest last.
    pub(super) before: Vec<(Option<Arc<Rules>>, Instant)>,
    /// The approximate size in bytes.
    pub(super) size: usize,
}

impl EffectiveRules {
    /// The rules as they were before the last `back` changes, if they are still in force. Otherwise
    /// the present rules.
    pub(super) fn rules(&self, back: usize) -> Option<&Rules> {
        let before = self.before.iter().nth_back(back.wrapping_sub(1)).map(|(rules, _)| rules);
        before.unwrap_or(&self.rules).as_deref()
    }
}

/// The content of a file.
#[derive(Debug, PartialEq, Eq)]
enum Content {
    Missing,
    Text(Vec<u8>),
    Unreadable(ErrorKind),
}

#[derive(Debug)]
struct KnownFile {
    content: Content,
    effective: EffectiveRules,
}

/// The ignore files, by path.
#[derive(Debug, Default)]
pub(super) struct Files(Mutex<HashMap<PathBuf, KnownFile>>);

impl Files {
    /// Reads an ignore file. Blocks for the disk, so don't call it on the server's thread.
    pub(super) fn read(&self, path: &Path) -> EffectiveRules {
        let content = Content::read(path);
        if let Some(effective) = self.known(path, &content) {
            return effective;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (rules, warnings) = content.rules(&name);
        let mut files = self.0.lock();
        let now = Instant::now();
        let last = files.remove(path).map(|last| last.effective).unwrap_or_default();
        let mut before = last.before;
        before.push((last.rules, now + SETTLE_TIME));
        before.retain(|(rules, until)| rules.is_some() && *until > now);
        if before.len() > MAX_CHANGES {
            before = vec![(Some(Arc::new(Rules::All)), now + SETTLE_TIME)];
        }
        let size = content.len() + rules.as_ref().map_or(0, |rules| rules.size());
        if files.values().map(|known| known.effective.size).sum::<usize>() + size > MAX_COMPILED {
            files.clear();
        }
        let effective = EffectiveRules { rules, before, size };
        files.insert(path.to_owned(), KnownFile { content, effective: effective.clone() });
        drop(files);
        for warning in warnings {
            log::warn!("{}{warning}", path.display());
        }
        effective
    }

    /// Notes that the files may have changed between two checks.
    pub(super) fn invalidate(&self) {
        let rest = Instant::now() + SETTLE_TIME;
        for known in self.0.lock().values_mut() {
            known.effective.before.iter_mut().for_each(|(_, until)| *until = rest);
        }
    }

    /// The rules, if the file has not changed since the last check.
    fn known(&self, path: &Path, content: &Content) -> Option<EffectiveRules> {
        let mut files = self.0.lock();
        let Some(known) = files.get_mut(path) else {
            return (*content == Content::Missing).then(EffectiveRules::default);
        };
        if known.content != *content {
            return None;
        }
        let effective = &mut known.effective;
        effective.before.retain(|(_, until)| *until > Instant::now());
        let effective = effective.clone();
        if *content == Content::Missing && effective.before.is_empty() {
            files.remove(path);
        }
        Some(effective)
    }
}

impl Content {
    fn read(path: &Path) -> Self {
        match symlink_metadata(path) {
            Ok(_) => {}
            Err(error) => match error.kind() {
                // A name that is too long names no file.
                ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename => {
                    return Self::Missing;
                }
                kind => return Self::Unreadable(kind),
            },
        }
        read_file(path).map_or_else(|error| Self::Unreadable(error.kind()), Self::Text)
    }

    fn len(&self) -> usize {
        if let Self::Text(text) = self { text.len() } else { 0 }
    }

    /// The rules of the file called `name`, and the warnings for the log.
    fn rules(&self, name: &str) -> (Option<Arc<Rules>>, Vec<String>) {
        let all_private = |why: &str| {
            let warning = format!(" is not used: {why}; everything below its folder stays private");
            (Rules::All, vec![warning])
        };
        let (rules, warnings) = match self {
            Self::Missing => return (None, Vec::new()),
            Self::Unreadable(why) => all_private(&format!("it can't be read ({why})")),
            Self::Text(text) => match Rules::parse(name, text) {
                Err(refusal) => all_private(&refusal),
                Ok((rules, wrong)) => {
                    let line = |line| format!(", line {line}: not a valid rule");
                    let mut warnings: Vec<_> =
                        wrong.iter().take(MAX_LOGGED_LINES).map(line).collect();
                    if wrong.len() > MAX_LOGGED_LINES {
                        warnings.push(format!(": {} lines are no rules", wrong.len()));
                    }
                    (rules, warnings)
                }
            },
        };
        (Some(Arc::new(rules)), warnings)
    }
}

/// Reads enough of the file to find out whether it is too large.
pub(super) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read_plain_file(path, MAX_BYTES as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The warnings of a `.geminiignore` for the log, without its path.
    fn warnings(content: &Content) -> Vec<String> {
        content.rules(".geminiignore").1
    }

    #[test]
    fn the_log_names_the_first_lines_that_are_no_rules_and_counts_many() {
        let of = |count| warnings(&Content::Text(b"!\n".repeat(count)));
        let lines: Vec<_> =
            (1..=MAX_LOGGED_LINES).map(|line| format!(", line {line}: not a valid rule")).collect();
        assert_eq!(of(0), [""; 0]);
        assert_eq!(of(1), lines[..1]);
        assert_eq!(of(MAX_LOGGED_LINES), lines);
        let many = ": 6 lines are no rules".to_owned();
        assert_eq!(of(MAX_LOGGED_LINES + 1), [lines, vec![many]].concat());
    }

    #[test]
    fn the_log_says_why_a_file_is_not_used() {
        for (content, why) in [
            (Content::Text(vec![b'#'; MAX_BYTES + 1]), "it has more than 1024 KB"),
            (Content::Text(b"a\n".repeat(2001)), "it has more than 2000 rules"),
            (Content::Text(vec![0]), "it is not UTF-8"),
            (
                Content::Unreadable(ErrorKind::PermissionDenied),
                "it can't be read (permission denied)",
            ),
        ] {
            let expected =
                format!(" is not used: {why}; everything below its folder stays private");
            assert_eq!(warnings(&content), [expected]);
        }
    }
}
