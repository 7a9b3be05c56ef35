//! Prints the results of commands on stdout.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write as _};

use companion_protocol::ide::log_line;
use serde::Serialize;

/// Prints a text. A reader that has closed the pipe has seen enough.
pub(crate) fn print(text: &str) -> io::Result<()> {
    unless_closed(print_to_reader(text))
}

/// Prints a text that somebody has to read.
pub(crate) fn print_to_reader(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Prints a line on stderr. Nothing else can be done if that can't be written.
pub(crate) fn print_error(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Takes a closed pipe for success.
pub(crate) fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Returns JSON for people and scripts. It has no character that controls a terminal.
pub(crate) fn json(value: &impl Serialize) -> serde_json::Result<String> {
    let json = serde_json::to_string_pretty(value)?;
    let mut text = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        match c {
            // JSON escapes the other control characters, but not DEL and C1.
            '\u{7f}'..='\u{9f}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('\n');
    Ok(text)
}

/// Shows characters that control a terminal, except those of lines.
pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for part in text.split_inclusive(['\n', '\t']) {
        let line = part.trim_end_matches(['\n', '\t']);
        shown.push_str(&log_line(line));
        shown.push_str(&part[line.len()..]);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_no_character_that_controls_a_terminal() {
        let value = "\u{1b}[2J\u{7f}\u{80}\u{9b}2J\u{9f}\u{a0}ä\n";
        let json = json(&[value]).unwrap();
        assert_eq!(json, "[\n  \"\\u001b[2J\\u007f\\u0080\\u009b2J\\u009f\u{a0}ä\\n\"\n]\n");
        assert_eq!(serde_json::from_str::<[String; 1]>(&json).unwrap(), [value]);
    }
}
