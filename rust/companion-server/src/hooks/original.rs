//! Finds the texts that a client can write back without changing their files.

use std::ffi::OsStr;
use std::path::Path;

/// The largest file, in bytes. The model's history contains it twice after a rejection with a
/// reason.
pub(crate) const MAX_ORIGINAL: usize = 32 << 10;

/// The longest line, in bytes. Gemini CLI 0.61.0 shows the text in its terminal, in a time that grows
/// with the square of a line: 10 s for 8,000 characters.
const MAX_LINE: usize = 2000;

/// The kinds of files in which Gemini CLI does not look for wrong escapes (`write-file.js`).
const NOT_CORRECTED: [&str; 3] = ["json", "jsonc", "json5"];

/// The kind of files for which Qwen Code has a tool that its hooks can't match with an accepted text.
const NOTEBOOK: &str = "ipynb";

/// Whether a client that writes this text of a file leaves the file as it is. It could change a
/// file that is empty or has mixed line endings. A long file or line, or a notebook, does not count as
/// unchanged.
///
/// With `is_write` the client's tool writes the whole text. Gemini CLI takes a backslash for a wrong
/// escape of the model then (`editCorrector.js`), and an omission `...` for an unfinished text
/// (`omissionPlaceholderDetector.js`).
pub(crate) fn is_unchanged_by_write(path: &Path, text: &str, is_write: bool) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let is_of = |kind: &str| kind.eq_ignore_ascii_case(extension);
    if text.is_empty() || text.len() > MAX_ORIGINAL || is_of(NOTEBOOK) {
        return false;
    }
    let with_return = text.matches("\r\n").count();
    let is_mixed = with_return > 0 && with_return < text.matches('\n').count();
    let is_long = text.lines().any(|line| line.len() > MAX_LINE);
    let is_corrected = text.contains('\\') && !NOT_CORRECTED.into_iter().any(is_of);
    let is_changed = is_write && (is_corrected || text.contains("..."));
    !is_mixed && !is_long && !is_changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::changes::FileText;

    fn read(path: &Path, is_write: bool) -> Option<String> {
        FileText::read(path, true).original(path, is_write).map(str::to_owned)
    }

    fn of_file(name: &str, content: impl AsRef<[u8]>, is_write: bool) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        read(&path, is_write)
    }

    fn of(content: impl AsRef<[u8]>) -> Option<String> {
        of_file("a.txt", content, false)
    }

    #[test]
    fn a_text_that_a_tool_for_whole_files_would_correct() {
        let escaped = r#"print("a\n")"#;
        assert!(of(escaped).is_some());
        assert_eq!(of_file("a.py", escaped, true), None);
        assert!(of_file("a.JSON", escaped, true).is_some());
        assert_eq!(of_file("a.ipynb", "{}", false), None);
        assert_eq!(of_file("a.py", "# rest of the code ...", true), None);
        assert!(of_file("a.py", "a = 1", true).is_some());
    }

    #[test]
    fn a_text_that_the_client_writes_back_byte_for_byte() {
        assert_eq!(of("a\nb\n").as_deref(), Some("a\nb\n"));
        assert_eq!(of("a\r\nb\r\n").as_deref(), Some("a\r\nb\r\n"));
        assert_eq!(of("\u{feff}a").as_deref(), Some("\u{feff}a"));
        assert_eq!(of("a\rb\n").as_deref(), Some("a\rb\n"));
        assert!(of("x\n".repeat(MAX_ORIGINAL / 2)).is_some());
    }

    #[test]
    fn a_text_that_the_client_would_change() {
        assert_eq!(of("a\r\nb\n"), None);
        assert_eq!(of(""), None);
        assert_eq!(of([0xe9, b'a']), None);
        assert_eq!(of("x\n".repeat(MAX_ORIGINAL / 2) + "x"), None);
        assert_eq!(of("x".repeat(MAX_LINE + 1)), None);
        assert_eq!(read(Path::new("/no/such/file"), false), None);
        assert_eq!(read(Path::new("/"), false), None);
    }
}
