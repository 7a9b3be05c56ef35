//! Writes a change as a unified diff, which `git apply` and `patch` read.

use std::fmt::Write as _;

use companion_protocol::editor::ChangedText;

use super::hunks::hunks;

/// The diff of a file. `path` is the path from its root, with `/`. Empty if no line has changed. Takes
/// about 200 ms at most.
pub(super) fn unified(path: &str, texts: &ChangedText) -> String {
    let (before, after) = (texts.before.as_deref(), texts.after.as_deref());
    let mut diff = String::new();
    for hunk in hunks(before.unwrap_or_default(), after.unwrap_or_default()) {
        if diff.is_empty() {
            let (old, new) = (name("a/", path, before), name("b/", path, after));
            diff = format!("--- {old}\n+++ {new}\n");
        }
        let _ = writeln!(diff, "{}", hunk.header());
        for line in &hunk.lines {
            diff.push_str(line);
            if !line.ends_with('\n') {
                diff.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    diff
}

/// The name of one side, quoted as Git does it, so that it stays one line.
fn name(prefix: &str, path: &str, text: Option<&str>) -> String {
    if text.is_none() {
        return "/dev/null".to_owned();
    }
    if !path.contains(|c: char| c.is_ascii_control() || c == '"' || c == '\\') {
        // The tab ends a name with spaces.
        let end = if path.contains(' ') { "\t" } else { "" };
        return format!("{prefix}{path}{end}");
    }
    let mut quoted = format!("\"{prefix}");
    for c in path.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_ascii_control() => {
                let _ = write!(quoted, "\\{:03o}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(path: &str, before: Option<&str>, after: Option<&str>) -> String {
        let texts = ChangedText { before: before.map(Into::into), after: after.map(Into::into) };
        unified(path, &texts)
    }

    #[test]
    fn each_kind_of_change_is_a_patch() {
        let changed = "--- a/d/a b\t\n+++ b/d/a b\t\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n";
        assert_eq!(diff("d/a b", Some("one\ntwo\n"), Some("ONE\ntwo\n")), changed);
        let created = "--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+one\n";
        assert_eq!(diff("a", None, Some("one\n")), created);
        let end = "\\ No newline at end of file\n";
        let deleted = format!("--- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-one\n{end}");
        assert_eq!(diff("a", Some("one"), None), deleted);
        assert_eq!(diff("a", None, Some("")), "");
    }

    #[test]
    fn a_name_stays_one_line() {
        let created = diff("a\n\"b\\c", None, Some("x\n"));
        assert_eq!(created.lines().nth(1), Some(r#"+++ "b/a\012\"b\\c""#));
    }
}
