//! Rewrites rules for the library, which knows no classes such as `[:digit:]`, no backslashes in brackets, no
//! more than two `*` in a row, and no `**/` behind a part of a name. Git does (`wildmatch.c`, `dir.c`).

/// Rewrites a rule. In place of a bracket that the library, or names in lower case, would give another
/// meaning than Git does, it has `?`, which matches more. A rule with `!` must not match more: `None`.
pub(super) fn rewrite(rule: &str) -> Option<String> {
    let takes_back = rule.starts_with('!');
    // The library removes all white space at the end, Git only blanks. For Git there is nothing between two
    // slashes.
    let has_other_end = rule.trim_end() != rule.trim_end_matches(' ');
    if takes_back && (has_other_end || rule.contains("//")) {
        return None;
    }
    let mut text = String::new();
    let mut rest = rule;
    while let Some(c) = rest.chars().next() {
        if let Some(length) = bracket_length(rest) {
            let bracket = &rest[..length];
            // For the library, such a bracket can match `/`.
            let is_too_wide = bracket[1..].starts_with(['!', '^']) || bracket.contains('/');
            if is_plain(bracket) && !(takes_back && is_too_wide) {
                text.push_str(bracket);
            } else if takes_back {
                return None;
            } else {
                text.push('?');
            }
            rest = &rest[length..];
            continue;
        }
        // A bracket without an end matches nothing for Git, and itself for the library.
        if takes_back && c == '[' {
            return None;
        }
        rest = &rest[c.len_utf8()..];
        // Three have the meaning of two.
        if c == '*' && text.ends_with("**") {
            continue;
        }
        text.push(c);
        if c == '\\'
            && let Some(escaped) = rest.chars().next()
        {
            if escaped == '/' {
                // Alone, it matches everything for the library.
                if takes_back {
                    return None;
                }
                // With the backslash, `**` before it is `*` for the library.
                text.pop();
            }
            text.push(escaped);
            rest = &rest[escaped.len_utf8()..];
        }
    }
    Some(text)
}

/// Git compares the names before the first wildcard by themselves (`dir.c`, `match_pathname`), so a `**/`
/// behind a part of a name leads to all folders. Returns such a rule as the library knows it.
pub(super) fn spread(rule: &str) -> Option<[String; 2]> {
    let (begin, rest) = rule.split_at(rule.find(['*', '?', '[', '\\'])?);
    let mut rest = after_stars(rest)?;
    // The last one means the folder alone.
    while let Some(after) = after_stars(rest).filter(|after| !after.is_empty()) {
        rest = after;
    }
    let begin = begin.trim_start_matches('/');
    let is_part = !begin.is_empty() && !begin.ends_with('/') && !begin.starts_with('!');
    (is_part && !rest.is_empty())
        .then(|| [format!("/{begin}*/**/{rest}"), format!("/{begin}{rest}")])
}

/// What follows `**/` at the beginning of a text.
fn after_stars(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("**")?.trim_start_matches('*');
    rest.strip_prefix('\\').unwrap_or(rest).strip_prefix('/')
}

/// The length of the bracket at the beginning of a text, in bytes. `None` if there is none, or if it has no
/// end for Git.
pub(super) fn bracket_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('[')?;
    let inner = inner.strip_prefix(['!', '^']).unwrap_or(inner);
    let begin = text.len() - inner.len();
    let mut at = begin;
    while let Some(c) = text[at..].chars().next() {
        if c == ']' && at > begin {
            return Some(at + 1);
        }
        at += c.len_utf8();
        if c == '\\' {
            at += text[at..].chars().next()?.len_utf8();
        } else if c == '[' && text[at..].starts_with(':') {
            let class = &text[at + 1..];
            let end = class.find(']')?;
            if class[..end].ends_with(':') {
                at += end + 2;
            }
        }
    }
    None
}

/// Whether a bracket has one meaning for Git and the library, in any case: it has single characters and
/// ranges of digits or of letters of one case, and it excludes no letters.
fn is_plain(bracket: &str) -> bool {
    let inner = &bracket[1..bracket.len() - 1];
    let has_letters = inner.contains(|c: char| c.is_ascii_alphabetic());
    if inner.contains(['\\', '[']) || (inner.starts_with(['!', '^']) && has_letters) {
        return false;
    }
    let is_range = |from: u8, to: u8| {
        let kinds = [u8::is_ascii_digit, u8::is_ascii_lowercase, u8::is_ascii_uppercase];
        from <= to && kinds.iter().any(|is_of_kind| is_of_kind(&from) && is_of_kind(&to))
    };
    let inner = inner.as_bytes();
    let mut ranges = inner.windows(3).filter(|three| three[1] == b'-');
    let share_an_end = inner.windows(5).any(|five| five[1] == b'-' && five[3] == b'-');
    ranges.all(|three| is_range(three[0], three[2])) && !share_an_end
}
