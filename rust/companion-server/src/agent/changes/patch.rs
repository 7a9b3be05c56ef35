//! Writes a change as a unified diff, which `git apply` and `patch` read.

use std::fmt::Write as _;

use companion_protocol::editor::ChangedText;

use super::hunks::hunks;

/// The diff of a file. `path` is the path from its root, with `/`. Empty if the file has not changed. Takes
/// about 200 ms at most.
pub(super) fn unified(path: &str, texts: &ChangedText) -> String {
    let (before, after) = (texts.before.as_deref(), texts.after.as_deref());
    if before == after {
        return String::new();
    }
    // Without this line an empty file would take the next one's text.
    let mut diff = format!("diff --git {} {}\n", quoted("a/", path), quoted("b/", path));
    match (before, after) {
        (None, _) => diff.push_str("new file mode 100644\n"),
        (_, None) => diff.push_str("deleted file mode 100644\n"),
        _ => {}
    }
    let hunks = hunks(before.unwrap_or_default(), after.unwrap_or_default());
    if !hunks.is_empty() {
        let side = |prefix, text: Option<&str>| match text {
            Some(_) => quoted(prefix, path),
            None => "/dev/null".to_owned(),
        };
        let _ = writeln!(diff, "--- {}\n+++ {}", side("a/", before), side("b/", after));
    }
    for hunk in hunks {
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

/// A name, quoted as Git does it, so that it is one word of one line.
fn quoted(prefix: &str, path: &str) -> String {
    if !path.contains(|c: char| c.is_ascii_control() || matches!(c, ' ' | '"' | '\\')) {
        return format!("{prefix}{path}");
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
        let names = r#"diff --git "a/d/a b" "b/d/a b""#;
        let changed = "--- \"a/d/a b\"\n+++ \"b/d/a b\"\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n";
        let of = diff("d/a b", Some("one\ntwo\n"), Some("ONE\ntwo\n"));
        assert_eq!(of, format!("{names}\n{changed}"));
        let names = "diff --git a/a b/a\n";
        let created = "new file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+one\n";
        let created = format!("{names}{created}");
        assert_eq!(diff("a", None, Some("one\n")), created);
        let end = "\\ No newline at end of file\n";
        let deleted = "deleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-one\n";
        let deleted = format!("{names}{deleted}{end}");
        assert_eq!(diff("a", Some("one"), None), deleted);
        let empty = "diff --git a/a b/a\nnew file mode 100644\n";
        assert_eq!(diff("a", None, Some("")), empty);
        assert_eq!(diff("a", Some(""), None), empty.replace("new", "deleted"));
        assert_eq!(diff("a", Some("one"), Some("one")), "");
    }

    #[test]
    fn a_name_stays_one_line() {
        let created = diff("a\n\"b\\c", None, Some("x\n"));
        assert_eq!(created.lines().nth(3), Some(r#"+++ "b/a\012\"b\\c""#));
    }
}
