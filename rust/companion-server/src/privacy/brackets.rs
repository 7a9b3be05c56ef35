//! Rewrites rules for the library, which knows no classes such as `[:digit:]`, no backslashes in brackets,
//! and no more than two `*` in a row. Git does (`wildmatch.c`).

type Range = (char, char);

/// The classes of characters. No name contains `/`, and in a rule it has a meaning.
const CLASSES: [(&str, &[Range]); 12] = [
    ("alnum", &[('A', 'Z'), ('a', 'z'), ('0', '9')]),
    ("alpha", &[('A', 'Z'), ('a', 'z')]),
    ("blank", &[(' ', ' '), ('\t', '\t')]),
    ("cntrl", &[('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')]),
    ("digit", &[('0', '9')]),
    ("graph", &[('!', '~')]),
    ("lower", &[('a', 'z')]),
    ("print", &[(' ', '~')]),
    ("punct", &[('!', '.'), (':', '@'), ('[', '`'), ('{', '~')]),
    ("space", &[(' ', ' '), ('\t', '\r')]),
    ("upper", &[('A', 'Z')]),
    ("xdigit", &[('0', '9'), ('A', 'F'), ('a', 'f')]),
];

/// The characters that have a meaning in brackets, at some place.
const SPECIAL: [char; 4] = [']', '-', '^', '!'];

/// Rewrites a rule, unless `in_case` for names in lower case. Brackets that Git could not use stay as they
/// are.
pub(super) fn rewrite(rule: &str, in_case: bool) -> String {
    let chars: Vec<_> = rule.chars().collect();
    let mut text = String::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let bracket = if c == '[' { Bracket::parse(&chars[at..]) } else { None };
        if let Some((bracket, length)) = bracket {
            let bracket = if in_case { bracket } else { bracket.folded() };
            bracket.write(&mut text);
            at += length;
            continue;
        }
        at += 1;
        // Three have the meaning of two.
        if c == '*' && text.ends_with("**") {
            continue;
        }
        text.push(c);
        if c == '\\' {
            text.extend(chars.get(at));
            at += 1;
        }
    }
    text
}

#[derive(Default)]
struct Bracket {
    is_negated: bool,
    /// Also those of single characters.
    ranges: Vec<Range>,
}

impl Bracket {
    /// Reads a bracket as Git does. Returns its length, too. `None` if it has no end, or an unknown class.
    fn parse(chars: &[char]) -> Option<(Self, usize)> {
        let mut bracket =
            Self { is_negated: matches!(chars.get(1)?, '!' | '^'), ..Self::default() };
        let first = if bracket.is_negated { 2 } else { 1 };
        let mut at = first;
        // The character that a range can begin with.
        let mut before = None;
        loop {
            let mut c = *chars.get(at)?;
            let next = *chars.get(at + 1).unwrap_or(&']');
            if c == ']' && at > first {
                return Some((bracket, at + 1));
            }
            at += 1;
            if let Some(from) = before
                && c == '-'
                && next != ']'
            {
                at += 1;
                let mut to = next;
                if to == '\\' {
                    to = *chars.get(at)?;
                    at += 1;
                }
                // A reversed range adds nothing to its first character.
                if from <= to {
                    bracket.ranges.push((from, to));
                }
                before = None;
                continue;
            }
            if c == '[' && next == ':' {
                let name_at = at + 1;
                let end = name_at + chars[name_at..].iter().position(|c| *c == ']')?;
                if end > name_at && chars[end - 1] == ':' {
                    let name: String = chars[name_at..end - 1].iter().collect();
                    let (_, ranges) = CLASSES.iter().find(|(of, _)| *of == name)?;
                    bracket.ranges.extend_from_slice(ranges);
                    at = end + 1;
                    before = None;
                    continue;
                }
            }
            if c == '\\' {
                c = *chars.get(at)?;
                at += 1;
            }
            bracket.ranges.push((c, c));
            before = Some(c);
        }
    }

    /// The same for names in lower case.
    fn folded(mut self) -> Self {
        for (from, to) in std::mem::take(&mut self.ranges) {
            if to < 'A' || from > 'Z' {
                self.ranges.push((from, to));
                continue;
            }
            let (upper_from, upper_to) = (from.max('A'), to.min('Z'));
            self.ranges.push((upper_from.to_ascii_lowercase(), upper_to.to_ascii_lowercase()));
            if from < 'A' {
                self.ranges.push((from, '@'));
            }
            if to > 'Z' {
                self.ranges.push(('[', to));
            }
        }
        self
    }

    /// Writes the bracket for the library. Special characters stand where they have no meaning.
    fn write(&self, text: &mut String) {
        let mut special = Vec::new();
        let mut others = String::new();
        for &(mut from, mut to) in &self.ranges {
            while from < to && SPECIAL.contains(&from) {
                special.push(from);
                from = char::from_u32(u32::from(from) + 1).unwrap_or(to);
            }
            while from < to && SPECIAL.contains(&to) {
                special.push(to);
                to = char::from_u32(u32::from(to) - 1).unwrap_or(from);
            }
            if from != to {
                others.extend([from, '-', to]);
            } else if SPECIAL.contains(&from) {
                special.push(from);
            } else {
                others.push(from);
            }
        }
        let has = |c| special.contains(&c);
        if !self.is_negated && others.is_empty() && !has(']') && !has('-') {
            // One of these would negate the bracket.
            text.push_str(match (has('^'), has('!')) {
                (true, true) => "{\\^,\\!}",
                (true, false) => "\\^",
                _ => "\\!",
            });
            return;
        }
        text.push_str(if self.is_negated { "[!" } else { "[" });
        text.extend(has(']').then_some(']'));
        text.push_str(&others);
        text.extend((has('-') && others.is_empty() && !has(']')).then_some('-'));
        text.extend(['^', '!'].into_iter().filter(|c| has(*c)));
        text.extend((has('-') && (has(']') || !others.is_empty())).then_some('-'));
        text.push(']');
    }
}
