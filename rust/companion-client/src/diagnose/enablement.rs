//! Reads where the user has enabled or disabled an extension (`extensionEnablement.ts`).

use std::path::Path;

use serde_json::Value;

/// Returns the rule in a file of enablement that disables the extension `name` in `folder`. The last
/// rule that matches counts. A file that is not as expected has no rules.
pub(super) fn disabling_rule(file: &Value, name: &str, folder: &Path) -> Option<String> {
    // One wrong entry makes the client ignore the whole file.
    let is_valid = |entry: &Value| {
        entry["overrides"].as_array().is_some_and(|rules| rules.iter().all(Value::is_string))
    };
    let entries = file.as_object().filter(|entries| entries.values().all(is_valid))?;
    let rules = entries.get(name)?["overrides"].as_array()?;
    let mut folders = vec![with_slashes(folder)];
    folders.extend(folder.canonicalize().map(|real| with_slashes(&real)));
    let mut matching = rules.iter().filter_map(Value::as_str).filter(|rule| {
        let pattern = rule.strip_prefix('!').unwrap_or(rule);
        folders.iter().any(|folder| matches(pattern, folder))
    });
    matching.next_back().filter(|rule| rule.starts_with('!')).map(str::to_owned)
}

fn with_slashes(folder: &Path) -> String {
    let folder = folder.to_string_lossy().replace('\\', "/");
    format!("/{}/", folder.trim_matches('/')).replace("//", "/")
}

/// Whether a pattern matches the whole path. A star matches any text. A star after a slash also
/// matches nothing, together with the slash.
fn matches(pattern: &str, path: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == path };
    let (before, slash) = match before.strip_suffix('/') {
        Some(before) => (before, "/"),
        None => (before, ""),
    };
    let Some(rest) = path.strip_prefix(before) else { return false };
    if matches(after, rest) {
        return true;
    }
    let Some(rest) = rest.strip_prefix(slash) else { return false };
    rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| matches(after, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// `e2e/tests/doctor-hooks.test.mjs` has some of these with the real clients.
    #[test]
    fn the_last_rule_that_matches_counts() {
        let rule = |rules: &[&str]| {
            let file = json!({ "a": { "overrides": rules } });
            disabling_rule(&file, "a", Path::new("/home/me/a b")).is_some()
        };
        for (rules, disabled) in [
            (&[][..], false),
            (&["!/*"], true),
            (&["!*"], true),
            (&["!/*", "/home/me/*"], false),
            (&["/home/me/*", "!/home/*"], true),
            (&["!/home/me/a b/"], true),
            (&["!/home/me/a b"], false),
            (&["!/home/me/a b*"], true),
            (&["!/home/me/a b/*"], true),
            (&["!/home/me/"], false),
            (&["!/home/you/*"], false),
            (&["!/home/*/a b/"], true),
            (&["!/home/*/b/"], false),
            (&["/home/me/a b/"], false),
        ] {
            assert_eq!(rule(rules), disabled, "{rules:?}");
        }
        let wrong = json!({ "a": { "overrides": ["!/*"] }, "b": {} });
        assert_eq!(disabling_rule(&wrong, "a", Path::new("/")), None);
        let other = json!({ "b": { "overrides": ["!/*"] } });
        assert_eq!(disabling_rule(&other, "a", Path::new("/")), None);
        let all = json!({ "a": { "overrides": ["!/*"] } });
        assert_eq!(disabling_rule(&all, "a", Path::new("/")).as_deref(), Some("!/*"));
    }
}
