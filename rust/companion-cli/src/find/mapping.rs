//! Maps path prefixes between both sides of a bridge.
//!
//! These are pure functions of text. They read no files, and both sides may run on another system
//! than this program.

use std::str::FromStr;

use companion_protocol::diagnostics::DiagnosticsReport;

/// The path syntax of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// `/a/b`, case-sensitive.
    Unix,
    /// `C:\a\b`, `\\server\share\a`, also with slashes; not case-sensitive.
    Windows,
}

impl Style {
    fn is_separator(self, character: char) -> bool {
        character == '/' || (self == Self::Windows && character == '\\')
    }

    /// Returns the style of an absolute path. On Windows, two separators at the beginning name a
    /// server.
    fn of(path: &str) -> Option<Self> {
        if parts(Self::Windows, path).is_some() {
            Some(Self::Windows)
        } else {
            parts(Self::Unix, path).map(|_| Self::Unix)
        }
    }

    fn same(self, a: &str, b: &str) -> bool {
        match self {
            Self::Unix => a == b,
            Self::Windows => {
                let fold = |part| str::chars(part).flat_map(char::to_lowercase);
                fold(a).eq(fold(b))
            }
        }
    }
}

/// Returns the parts of an absolute path, each with its end position. The first part of a Windows
/// path is the drive, or the server with its two separators.
fn parts(style: Style, path: &str) -> Option<Vec<(String, usize)>> {
    let mut names = Vec::new();
    let mut from = 0;
    for end in path
        .match_indices(|c| style.is_separator(c))
        .map(|(at, _)| at)
        .chain(std::iter::once(path.len()))
    {
        if end > from {
            names.push((path[from..end].to_owned(), end));
        }
        from = end + 1;
    }
    let separators = path.chars().take_while(|c| style.is_separator(*c)).count();
    match (style, separators) {
        (Style::Unix, 1..) => Some(names),
        (Style::Windows, 0) => {
            let (drive, end) = names.first()?;
            let is_drive =
                matches!(drive.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic());
            (is_drive && *end < path.len()).then_some(names)
        }
        (Style::Windows, 2) => {
            let server = &mut names.first_mut()?.0;
            // Both names mean the files of a Linux system in WSL.
            let is_wsl =
                ["wsl$", "wsl.localhost"].iter().any(|wsl| Style::Windows.same(server, wsl));
            let name = if is_wsl { "wsl$" } else { server.as_str() };
            *server = format!(r"\\{name}");
            Some(names)
        }
        (Style::Unix | Style::Windows, _) => None,
    }
}

/// The beginning of paths on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Prefix {
    style: Style,
    /// Without separators at the end.
    text: String,
    /// The separator between parts.
    separator: char,
    parts: Vec<String>,
}

impl Prefix {
    fn new(path: &str) -> Option<Self> {
        let style = Style::of(path)?;
        let separator = if path.contains('\\') && style == Style::Windows { '\\' } else { '/' };
        Some(Self {
            style,
            text: path.trim_end_matches(|c| style.is_separator(c)).to_owned(),
            separator,
            parts: parts(style, path)?.into_iter().map(|(part, _)| part).collect(),
        })
    }

    /// Returns the rest of `path` after this prefix: nothing, or a separator and more. A path with
    /// `..` is not below any prefix, because its target is unknown here.
    fn rest<'a>(&self, path: &'a str) -> Option<&'a str> {
        let parts = parts(self.style, path)?;
        let within = parts.len() >= self.parts.len()
            && self.parts.iter().zip(&parts).all(|(a, (b, _))| self.style.same(a, b))
            && !parts.iter().any(|(part, _)| part == "." || part == "..");
        let end =
            self.parts.len().checked_sub(1).map_or(0, |last| parts.get(last).map_or(0, |p| p.1));
        within.then(|| &path[end..])
    }

    /// Returns this prefix followed by `rest`, which is written in `style`. Returns `None` if the
    /// name is not valid on this side.
    fn join(&self, rest: &str, style: Style) -> Option<String> {
        let rest = match (style, self.style) {
            (Style::Unix, Style::Windows) => {
                if rest.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) {
                    return None;
                }
                rest.replace('/', self.separator.encode_utf8(&mut [0; 4]))
            }
            (Style::Windows, Style::Unix) => rest.replace('\\', "/"),
            (Style::Unix, Style::Unix) | (Style::Windows, Style::Windows) => rest.to_owned(),
        };
        let is_root = match self.style {
            Style::Unix => self.parts.is_empty(),
            Style::Windows => self.parts.len() == 1,
        };
        let mut path = format!("{}{rest}", self.text);
        if is_root && rest.is_empty() {
            path.push(self.separator);
        }
        Some(path)
    }
}

/// A rule `FROM=TO`: the same folder as the client sees it, and as the companion sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    client: Prefix,
    companion: Prefix,
}

impl FromStr for Rule {
    type Err = &'static str;

    /// A path may contain `=`. So the text is split at the `=` with an absolute path on both sides.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut rules = text.match_indices('=').filter_map(|(at, _)| {
            let (client, companion) = (Prefix::new(&text[..at])?, Prefix::new(&text[at + 1..])?);
            Some(Self { client, companion })
        });
        let rule = rules
            .next()
            .ok_or("it must be FROM=TO with two absolute paths, such as /work=/home/me/project")?;
        match rules.next() {
            None => Ok(rule),
            Some(_) => Err("it can be read as FROM=TO in more than one way"),
        }
    }
}

/// All rules. The longest prefix applies, and among equal ones the first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mapping(pub(crate) Vec<Rule>);

impl Mapping {
    /// Returns the path of a client's folder that has more than one rule.
    pub(crate) fn ambiguous(&self) -> Option<&str> {
        let is_same = |a: &Prefix, b: &Prefix| is_same_file(&a.text, &b.text);
        let repeated = self.0.iter().enumerate().find(|(number, rule)| {
            self.0[..*number].iter().any(|above| is_same(&above.client, &rule.client))
        });
        repeated.map(|(_, rule)| &*rule.client.text)
    }

    /// Returns a client's path as the companion sees it, or `None` if no rule applies.
    pub(crate) fn to_companion(&self, path: &str) -> Option<String> {
        self.map(path, |rule| (&rule.client, &rule.companion))
    }

    /// Returns a companion's path as the client sees it, or `None` if no rule applies.
    pub(crate) fn to_client(&self, path: &str) -> Option<String> {
        self.map(path, |rule| (&rule.companion, &rule.client))
    }

    /// Maps a companion's diagnostics to the client's paths.
    pub(crate) fn report_to_client(&self, mut report: DiagnosticsReport) -> DiagnosticsReport {
        for file in &mut report.files {
            if let Some(path) = self.to_client(&file.found.path) {
                file.found.path = path;
            }
        }
        report
    }

    fn map<'a>(
        &'a self,
        path: &str,
        sides: impl Fn(&'a Rule) -> (&'a Prefix, &'a Prefix),
    ) -> Option<String> {
        let mut longest: Option<(&str, &Prefix, &Prefix)> = None;
        for (from, to) in self.0.iter().map(sides) {
            if longest.is_none_or(|(_, best, _)| best.parts.len() < from.parts.len())
                && let Some(rest) = from.rest(path)
            {
                longest = Some((rest, from, to));
            }
        }
        longest.and_then(|(rest, from, to)| to.join(rest, from.style))
    }
}

/// Returns whether two paths of one side name the same file, judged by their names only.
pub(crate) fn is_same_file(a: &str, b: &str) -> bool {
    a == b
        || Style::of(a).is_some_and(|style| {
            style == Style::Windows
                && Prefix::new(a).zip(Prefix::new(b)).is_some_and(|(a, b)| {
                    a.parts.len() == b.parts.len()
                        && a.parts.iter().zip(&b.parts).all(|(a, b)| style.same(a, b))
                })
        })
}

/// Returns whether `path` is `folder` or within it, judged by their names, in the style of
/// `folder`.
pub(crate) fn is_within(path: &str, folder: &str) -> bool {
    Prefix::new(folder).is_some_and(|folder| folder.rest(path).is_some())
}

/// Splits a list of folders as the companion's side writes it: with `;` on Windows, otherwise with
/// `:`.
pub(crate) fn list(text: &str) -> impl Iterator<Item = &str> {
    let windows = text.contains(';') || Style::of(text) == Some(Style::Windows);
    text.split(if windows { ';' } else { ':' })
}

#[cfg(test)]
#[path = "mapping_tests.rs"]
mod tests;
