//! Finds out whether a file has the text that a client is to write.

use std::io;
use std::path::Path;
use std::time::SystemTime;

use companion_core::companion::FoundFile;
use companion_core::text::{Digest, written_digest};
use companion_platform::read_plain_file;

/// The most bytes of a character in any encoding, with a line ending of two characters.
const MAX_BYTES_OF_CHARACTER: usize = 4;

/// Compares a file with the [`written_digest`] of a text. Qwen Code keeps the encoding of a file.
pub(crate) fn find(path: &Path, text: Digest) -> io::Result<FoundFile> {
    let metadata = path.metadata()?;
    let since = metadata.modified()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let modified = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    // Besides the text, a file has a byte order mark and the end of the last line.
    let limit = (MAX_BYTES_OF_CHARACTER * (text.len() + 2)) as u64;
    if !metadata.is_file() || metadata.len() > limit {
        return Ok(FoundFile { has_text: Some(false), modified });
    }
    let has_text =
        decode(read_plain_file(path, limit)?).map(|found| written_digest(&found) == text);
    Ok(FoundFile { has_text, modified })
}

/// Decodes UTF-8, and UTF-16 with a byte order mark. The encoding of any other file is not known.
fn decode(bytes: Vec<u8>) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match bytes[..] {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return String::from_utf8(bytes).ok(),
    };
    let (units, rest) = bytes.as_chunks::<2>();
    let text = String::from_utf16(&units.iter().map(|two| unit(*two)).collect::<Vec<_>>()).ok();
    text.filter(|_| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(bytes: &[u8], text: &str) -> Option<bool> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        std::fs::write(&path, bytes).unwrap();
        find(&path, written_digest(text)).unwrap().has_text
    }

    #[test]
    fn a_text_is_found_with_other_line_endings_and_in_utf_16() {
        let text = "é 文 😀\nb\n";
        assert_eq!(has(text.as_bytes(), text), Some(true));
        assert_eq!(has(text.trim_end().as_bytes(), text), Some(true));
        assert_eq!(has("\u{feff}é 文 😀\r\nb\r".as_bytes(), text), Some(true));
        assert_eq!(has(text.as_bytes(), "\u{feff}é 文 😀\r\nb\r\n"), Some(true));
        let units = || "\u{feff}é 文 😀\r\nb\r\n".encode_utf16();
        assert_eq!(has(&units().flat_map(u16::to_le_bytes).collect::<Vec<_>>(), text), Some(true));
        assert_eq!(has(&units().flat_map(u16::to_be_bytes).collect::<Vec<_>>(), text), Some(true));
    }

    #[test]
    fn another_text_is_not_found() {
        assert_eq!(has(b"a\nb\n\n", "a\nb\n"), Some(false));
        assert_eq!(has(b"", "a"), Some(false));
        assert_eq!(has(&b"a\n".repeat(1000), "a\n"), Some(false), "it is not read");
        assert_eq!(has(&[b'a', 0xe9], "aé"), None, "Latin-1");
        assert_eq!(has(&[0xff, 0xfe, b'a'], "a"), None, "half a character");
        let nowhere = find(Path::new("/no/such/file"), Digest::of("a"));
        assert_eq!(nowhere.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(find(Path::new("/"), Digest::of("a")).unwrap().has_text, Some(false));
    }
}
