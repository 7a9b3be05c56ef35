//! Parses one ignore file, as a pure function of its text: rules in the syntax of `.gitignore`.

use std::fmt;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::brackets::rewrite;

/// The largest file, in bytes.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// The most rules of a file. Each takes memory, and time after each change of the file.
const MAX_RULES: usize = 2000;
/// The longest rule, in bytes.
const MAX_RULE: usize = 1 << 10;

/// The most bytes of the compiled rules of all files.
pub(super) const MAX_COMPILED: usize = 48 << 20;
/// The bytes of a compiled short rule with wildcards.
pub(super) const RULE_SIZE: usize = 12 << 10;
/// The bytes that each further byte of a rule adds when it is compiled.
pub(super) const COMPILED_BYTE: usize = 256;

/// The names of ignore files. A rule in one can't take back a match of another.
pub(super) const NAMES: [&str; 3] = [".geminiignore", ".aiexclude", ".aiignore"];

/// Programs that read a file of this name take an empty one as a match for everything.
const NAMES_ALL_IF_EMPTY: &str = ".aiexclude";

/// The rules of a file, for the paths below its folder.
#[derive(Debug)]
pub(super) enum Rules {
    /// Everything matches.
    All,
    Some {
        /// For paths in lower case.
        folded: Gitignore,
        /// The same rules with their case, if this makes a difference for Git.
        in_case: Option<Box<Gitignore>>,
        /// An upper bound of the bytes of both.
        size: usize,
    },
}

/// The decision of an ignore file about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict<'a> {
    /// Private, by this rule as the user has written it; `None` if the file can't be used.
    Hidden(Option<&'a str>),
    /// A rule takes back another one.
    TakenBack,
}

/// The reason why a file can't be used. Everything below its folder stays private.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RulesError {
    TooLarge,
    TooMany,
    TooLong,
    NoText,
    TooComplex,
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "it has more than {} KB", MAX_BYTES >> 10),
            Self::TooMany => write!(f, "it has more than {MAX_RULES} rules"),
            Self::TooLong => write!(f, "a rule is longer than {MAX_RULE} bytes"),
            Self::NoText => f.write_str("it is not UTF-8"),
            Self::TooComplex => f.write_str("its rules are too complex"),
        }
    }
}

impl Rules {
    /// Parses the file called `name`. Returns the numbers of invalid lines too, from 1.
    ///
    /// Ignores case, as the client and some disks do.
    pub(super) fn parse(name: &str, text: &[u8]) -> Result<(Self, Vec<usize>), RulesError> {
        if text.len() > MAX_BYTES {
            return Err(RulesError::TooLarge);
        }
        // UTF-16, or no text at all.
        if text.contains(&0) {
            return Err(RulesError::NoText);
        }
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        if name == NAMES_ALL_IF_EMPTY && text.trim_ascii().is_empty() {
            return Ok((Self::All, Vec::new()));
        }
        let is_of_git = !NAMES.contains(&name);
        let mut folded = GitignoreBuilder::new("");
        let mut in_case =
            (is_of_git && may_depend_on_case(text)).then(|| GitignoreBuilder::new(""));
        let (mut count, mut size, mut wrong) = (0, 0, Vec::new());
        for (line, text) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            // Some old editors end lines with CR alone.
            for text in text.split(|byte| *byte == b'\r') {
                // For Git, a blank is the first character of the names.
                let text = if is_of_git { text } else { text.trim_ascii_start() };
                if text.trim_ascii().is_empty() || text.starts_with(b"#") {
                    continue;
                }
                count += 1;
                if count > MAX_RULES {
                    return Err(RulesError::TooMany);
                }
                if text.len() > MAX_RULE {
                    return Err(RulesError::TooLong);
                }
                size += compiled_size(text) * if in_case.is_some() { 2 } else { 1 };
                if size > MAX_COMPILED {
                    return Err(RulesError::TooComplex);
                }
                let mut added = false;
                if let Ok(rule) = std::str::from_utf8(text) {
                    added = add(&mut folded, rule, false);
                    if let Some(in_case) = &mut in_case {
                        added |= add(in_case, rule, true);
                    }
                }
                if !added && wrong.last() != Some(&line) {
                    wrong.push(line);
                }
            }
        }
        let build = |rules: GitignoreBuilder| rules.build().map_err(|_| RulesError::TooComplex);
        let in_case = in_case.map(build).transpose()?.map(Box::new);
        Ok((Self::Some { folded: build(folded)?, in_case, size }, wrong))
    }

    /// An upper bound of their bytes.
    pub(super) fn size(&self) -> usize {
        if let Self::Some { size, .. } = self { *size } else { 0 }
    }

    /// The decision of the last rule that matches `path`, which is relative to the file's folder, in
    /// lower case and with slashes.
    fn judge(&self, path: &str, is_dir: bool) -> Option<Verdict<'_>> {
        let Self::Some { folded, .. } = self else { return Some(Verdict::Hidden(None)) };
        verdict(folded, path, is_dir)
    }

    /// The decision if Git may ignore case, or not. `written` is the path with its case.
    fn judge_as_git(&self, path: &str, written: &str, is_dir: bool) -> Option<Verdict<'_>> {
        let folded = self.judge(path, is_dir);
        let Self::Some { in_case: Some(in_case), .. } = self else { return folded };
        let in_case = verdict(in_case, written, is_dir);
        match (folded, in_case) {
            (Some(Verdict::Hidden(_)), _) => folded,
            (_, Some(Verdict::Hidden(_))) => in_case,
            (Some(_), Some(_)) => Some(Verdict::TakenBack),
            _ => None,
        }
    }
}

fn verdict<'a>(rules: &'a Gitignore, path: &str, is_dir: bool) -> Option<Verdict<'a>> {
    match rules.matched(path, is_dir) {
        Match::None => None,
        Match::Ignore(rule) => Some(Verdict::Hidden(rule.from().and_then(Path::to_str))),
        Match::Whitelist(_) => Some(Verdict::TakenBack),
    }
}

/// Whether Git may ignore a file only because of its case: if a rule has `!` or a negated bracket.
fn may_depend_on_case(text: &[u8]) -> bool {
    text.contains(&b'!') || text.windows(2).any(|two| two == b"[^")
}

/// An upper bound of the bytes of the compiled rule. A rule with braces is compiled twice.
fn compiled_size(rule: &[u8]) -> usize {
    let forms = if rule.contains(&b'{') { 2 } else { 1 };
    forms * (RULE_SIZE + COMPILED_BYTE * rule.len())
}

/// Adds a rule, if the line is one. If `in_case`, its case counts.
fn add(rules: &mut GitignoreBuilder, rule: &str, in_case: bool) -> bool {
    // The library keeps a path for each rule. Here it is the rule for the user.
    let written = Some(PathBuf::from(rule.trim_end()));
    // For the library this matches everything, for git nothing.
    if matches!(rule.trim_end(), "!" | "/" | "!/") {
        return false;
    }
    let mut add = |rule: &str| {
        let rule = rewrite(rule, in_case);
        let rule = if in_case { rule } else { lowercase(&rule) };
        rules.add_line(written.clone(), &rule).is_ok()
    };
    // For git braces are ordinary characters. For the library, and for many users, they enclose
    // alternatives. Both readings make a file private.
    let braces = rule.contains('{') && !rule.contains("\\{");
    let plain = braces.then(|| rule.replace('{', "\\{").replace('}', "\\}"));
    let alternatives = !(braces && rule.starts_with('!')) && add(rule);
    let plain = plain.is_some_and(|plain| add(&plain));
    alternatives || plain
}

/// Whether the rules of the folders on the way match the file that `names` lead to from a root; the
/// root's rules come first. As in git, deeper rules outweigh higher ones, and nothing below a
/// matched folder can be taken back.
pub(super) fn is_named(names: &[String], rules: &[Option<&Rules>]) -> bool {
    if rules.iter().all(Option::is_none) {
        return false;
    }
    (1..=names.len())
        .any(|end| matches!(judge(names, None, rules, end), Some((_, Verdict::Hidden(_)))))
}

/// Whether the rules of the folders on the way take the file back, although other rules match the first
/// `hidden` of `names`: a rule with `!` matches these names, or more of them.
pub(super) fn takes_back(names: &[String], rules: &[Option<&Rules>], hidden: usize) -> bool {
    (hidden..=names.len())
        .any(|end| matches!(judge(names, None, rules, end), Some((_, Verdict::TakenBack))))
}

/// The decision of the last rule that matches the first `end` names, and the number of names up to the
/// folder that has this rule. With `written`, the names with their case, these are rules of Git, which ignores
/// case on some disks: a file is private if Git ignores it in either way.
pub(super) fn judge<'a>(
    names: &[String],
    written: Option<&[String]>,
    rules: &[Option<&'a Rules>],
    end: usize,
) -> Option<(usize, Verdict<'a>)> {
    let is_dir = end < names.len();
    (0..end).rev().find_map(|folder| {
        let rules = rules.get(folder).copied().flatten()?;
        let path = |names: &[String]| names[folder..end].join("/");
        let verdict = match written {
            None => rules.judge(&path(names), is_dir),
            Some(written) => rules.judge_as_git(&path(names), &path(written), is_dir),
        };
        Some((folder, verdict?))
    })
}

/// Lower case of each character alone, so that it does not depend on its neighbours.
pub(super) fn lowercase(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, text: &[u8]) -> (Rules, Vec<usize>) {
        Rules::parse(name, text).unwrap()
    }

    /// Returns the matched paths, if each folder of `files` has a file with these rules.
    fn named<'a>(files: &[(&str, &str)], paths: &[&'a str]) -> Vec<&'a str> {
        let files: Vec<_> = files
            .iter()
            .map(|(folder, text)| (*folder, parse(".geminiignore", text.as_bytes()).0))
            .collect();
        let is_named = |path: &&str| {
            let names: Vec<_> = path.split('/').map(lowercase).collect();
            let of = |depth: usize| {
                let folder = path.split('/').take(depth).collect::<Vec<_>>().join("/");
                files.iter().find(|(of, _)| *of == folder).map(|(_, rules)| rules)
            };
            let rules: Vec<_> = (0..names.len()).map(of).collect();
            super::is_named(&names, &rules)
        };
        paths.iter().copied().filter(is_named).collect()
    }

    /// Returns the paths that are private if the root has a `.gitignore` with these rules.
    fn ignored<'a>(text: &str, paths: &[&'a str]) -> Vec<&'a str> {
        let rules = parse(".gitignore", text.as_bytes()).0;
        let is_ignored = |path: &&str| {
            let written: Vec<_> = path.split('/').map(str::to_owned).collect();
            let names: Vec<_> = path.split('/').map(lowercase).collect();
            (1..=names.len()).any(|end| {
                let verdict = judge(&names, Some(&written), &[Some(&rules)], end);
                matches!(verdict, Some((_, Verdict::Hidden(_))))
            })
        };
        paths.iter().copied().filter(is_ignored).collect()
    }

    #[test]
    fn rules_are_those_of_gitignore() {
        let text = "# a comment\n\n*.key\n/top.txt\nbuild/\ndocs/*.md\n\\#odd\n\\!odd\nsp\\ \nt/**/x\n!my.key\n";
        let all = [
            "a.key",
            "d/a.key",
            "my.key",
            "d/my.key",
            "top.txt",
            "d/top.txt",
            "build",
            "build/a",
            "d/build/a/b",
            "docs/a.md",
            "docs/d/a.md",
            "x/docs/a.md",
            "#odd",
            "!odd",
            "sp ",
            "sp",
            "t/x",
            "t/a/b/x",
            "a.keys",
            "odd",
        ];
        let private = [
            "a.key",
            "d/a.key",
            "top.txt",
            "build/a",
            "d/build/a/b",
            "docs/a.md",
            "#odd",
            "!odd",
            "sp ",
            "t/x",
            "t/a/b/x",
        ];
        assert_eq!(named(&[("", text)], &all), private);
    }

    #[test]
    fn deeper_rules_outweigh_higher_ones() {
        let files = [("", "*.env\nsecret/\n"), ("a", "!my.env\n*.txt"), ("a/b", "my.env\n!b.txt")];
        let all =
            ["my.env", "a/my.env", "a/x.env", "a/b/my.env", "a/b/b.txt", "a/b/c.txt", "b.txt"];
        let private = ["my.env", "a/x.env", "a/b/my.env", "a/b/c.txt"];
        assert_eq!(named(&files, &all), private);
    }

    #[test]
    fn what_is_below_a_named_folder_cannot_be_taken_back() {
        let files = [("", "secret/\n!secret/a\n!a"), ("secret", "!*"), ("secret/d", "!*\n!a")];
        assert_eq!(named(&files, &["secret/a", "secret/d/a"]), ["secret/a", "secret/d/a"]);
        // A path below a folder that is matched by its content can be taken back.
        assert_eq!(named(&[("", "open/*\n!open/a")], &["open/a", "open/b"]), ["open/b"]);
    }

    #[test]
    fn case_and_line_endings_do_not_count() {
        for text in
            ["Secret.KEY\r\n*.Pem\r\n", "\u{feff}secret.key\n*.PEM", "  secret.key\r*.pem\r"]
        {
            let all = ["SECRET.key", "secret.key", "d/A.pEm", "a.key"];
            assert_eq!(named(&[("", text)], &all), &all[..3], "{text:?}");
        }
        assert_eq!(named(&[("", "ÄÖ*.TXT\nΣΑΣ")], &["äöü.txt", "σασ", "Σας"]), ["äöü.txt", "σασ"]);
    }

    #[test]
    fn classes_of_characters_are_those_of_git() {
        for (class, is_in) in [
            ("alnum", char::is_ascii_alphanumeric as fn(&char) -> bool),
            ("alpha", char::is_ascii_alphabetic),
            ("blank", |c| " \t".contains(*c)),
            ("cntrl", char::is_ascii_control),
            ("digit", char::is_ascii_digit),
            ("graph", char::is_ascii_graphic),
            ("lower", char::is_ascii_lowercase),
            ("print", |c| *c == ' ' || c.is_ascii_graphic()),
            ("punct", char::is_ascii_punctuation),
            ("space", |c| " \t\n\u{b}\u{c}\r".contains(*c)),
            ("upper", char::is_ascii_lowercase),
            ("xdigit", char::is_ascii_hexdigit),
        ] {
            let rules =
                parse(".gitignore", format!("a[[:{class}:]]\nb[^[:{class}:]]").as_bytes()).0;
            for c in ('\0'..='\u{7f}').filter(|c| *c != '/' && !c.is_ascii_uppercase()) {
                let hides = |path: String| rules.judge(&path, false).is_some();
                assert_eq!(hides(format!("a{c}")), is_in(&c), "{class}: {c:?}");
                assert_eq!(hides(format!("b{c}")), !is_in(&c), "not {class}: {c:?}");
            }
        }
        let two = "[[:digit:][:punct:]].a\nx[_[:alpha:]]";
        assert_eq!(
            named(&[("", two)], &["1.a", "!.a", "b.a", "x_", "xA", "x1"]),
            ["1.a", "!.a", "x_", "xA"]
        );
        assert_eq!(named(&[("", "[:digit:]")], &["d", "1"]), ["d"]);
    }

    #[test]
    fn brackets_are_read_as_git_reads_them() {
        let all: Vec<_> = "!-[\\]^abz".chars().map(|c| format!("x{c}")).collect();
        let all: Vec<_> = all.iter().map(String::as_str).collect();
        for (rule, expected) in [
            (r"x[\]]", "]"),
            (r"x[\\]", "\\"),
            (r"x[a\-z]", "-az"),
            (r"x[\!]", "!"),
            (r"x[\^]", "^"),
            (r"x[\^\!]", "!^"),
            (r"x[\^-]", "-^"),
            (r"x[\^a]", "^a"),
            (r"x[\]-b]", "]^ab"),
            (r"x[ -\]]", "!-[\\]abz"),
            (r"x[Z-\]]", "[\\]z"),
            (r"x[@-B]", "ab"),
            (r"x[[-\]]", "[\\]"),
            (r"x[^\]a-z]", "!-[\\^"),
            (r"x[[:alpha:]\]]", "]abz"),
            (r"x[]a]", "]a"),
            (r"x[]-a]", "]^a"),
            (r"x[a-]", "-a"),
        ] {
            let found: String =
                named(&[("", rule)], &all).iter().filter_map(|path| path.chars().nth(1)).collect();
            assert_eq!(found, expected, "{rule}");
        }
    }

    #[test]
    fn whatever_git_ignores_is_hidden() {
        for (text, hidden, others) in [
            ("*\n![[:upper:]]*", &["abc"][..], &["ABC"][..]),
            ("*\n![@-_]*", &["abc"], &["ABC"]),
            ("*\n!ab*\n!CD", &["ABC", "cd"], &["abc", "CD"]),
            ("*[[:punct:]]", &["a~", "d/a~"], &["d/a"]),
            ("[!A-Z]*", &["abc", "d/abc"], &["ABC"]),
            ("[!a-z]*", &["README"], &["readme"]),
            ("[^A]", &["a"], &["A"]),
            ("*\n !a\n#", &["a", " !a"], &[]),
            (" *.log\n #a", &[" b.log", " #a"], &["b.log", "#a"]),
            ("[bz-a]", &["b", "z"], &["a", "-"]),
            ("[!z-a]", &["b", "-"], &["z"]),
            ("***/x", &["x", "a/b/x"], &["a/b/y"]),
            ("a/***/b", &["a/b", "a/c/d/b"], &["c/b"]),
        ] {
            let all = [hidden, others].concat();
            assert_eq!(ignored(text, &all), hidden, "{text}");
        }
    }

    #[test]
    fn braces_are_read_in_both_ways() {
        let all = ["a.key", "b.key", "{a,b}.key", "{c", "c", "d", "{d}"];
        let private = ["a.key", "b.key", "{a,b}.key", "{c", "d"];
        assert_eq!(named(&[("", "{a,b}.key\n{c\n{d}\n!{d}")], &all), private);
        assert_eq!(named(&[("", "\\{e\\}")], &["{e}", "e"]), ["{e}"]);
    }

    #[test]
    fn a_line_that_is_no_rule_is_reported_and_the_others_hold() {
        let (rules, wrong) = parse(".geminiignore", b"a\n[z-a[:x:]]\n\xe9t\xe9\n\nlast\\\n!\n/\nc");
        assert_eq!(wrong, [2, 3, 5, 6, 7], "{rules:?}");
        for path in ["a", "c"] {
            assert_eq!(rules.judge(path, false), Some(Verdict::Hidden(Some(path))), "{path}");
        }
        assert_eq!(rules.judge("d", false), None);
    }

    #[test]
    fn an_empty_aiexclude_names_everything() {
        for text in ["", "\u{feff}", " \r\n\n"] {
            assert!(matches!(parse(".aiexclude", text.as_bytes()).0, Rules::All), "{text:?}");
            for other in [".geminiignore", ".aiignore"] {
                assert_eq!(parse(other, text.as_bytes()).0.judge("a", false), None, "{other}");
            }
        }
        assert_eq!(parse(".aiexclude", b"# nothing yet").0.judge("a", false), None);
    }

    #[test]
    fn what_is_too_much_or_no_text_is_refused() {
        let refusal = |text: &[u8]| Rules::parse(".aiignore", text).err();
        let rules = |count: usize, rule: fn(usize) -> String| -> Vec<u8> {
            (0..count).flat_map(|n| rule(n).into_bytes()).collect()
        };
        let (plain, wild) =
            (|n| format!("/some/folder{n}/*.txt\n"), |n| format!("*a{n}/**/b*c{n}?\n"));
        assert_eq!(refusal(&rules(MAX_RULES, plain)), None);
        assert_eq!(refusal(&rules(MAX_RULES + 1, plain)), Some(RulesError::TooMany));
        assert_eq!(refusal(&rules(100_000, plain)), Some(RulesError::TooLarge));
        assert_eq!(refusal(&rules(MAX_RULES, wild)), None);
        let long = |count| format!("{}\n", "?".repeat(MAX_RULE)).repeat(count).into_bytes();
        assert_eq!(refusal(&long(40)), None);
        assert_eq!(refusal(&long(400)), Some(RulesError::TooComplex));
        let of_git = [b"!a\n".to_vec(), long(100)].concat();
        assert_eq!(Rules::parse(".gitignore", &of_git).err(), Some(RulesError::TooComplex));
        assert_eq!(refusal(&b"?".repeat(MAX_RULE + 1)), Some(RulesError::TooLong));
        assert_eq!(refusal(&b"a\n".repeat(100_000)), Some(RulesError::TooMany));
        assert_eq!(refusal(&vec![b'#'; 10 << 20]), Some(RulesError::TooLarge));
        assert_eq!(refusal(&vec![b'#'; MAX_BYTES]), None);
        // As Windows shells write it.
        assert_eq!(refusal(b"\xff\xfe*\0.\0k\0e\0y\0"), Some(RulesError::NoText));
        assert_eq!(refusal(b"\x7fELF\x02\x01\x01\0\0"), Some(RulesError::NoText));
    }
}
