//! Parses one ignore file, as a pure function of its text: rules in the syntax of `.gitignore`.

use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::brackets::{bracket_length, rewrite, spread};

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

const TOO_COMPLEX: &str = "its rules are too complex";

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
        /// The same rules with their case, which may make a difference for Git if one has `!`.
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

impl Rules {
    /// Parses the file called `name`. Returns the numbers of invalid lines too, from 1.
    ///
    /// Ignores case, as the client and some disks do.
    ///
    /// # Errors
    ///
    /// Why the file can't be used. Everything below its folder stays private.
    pub(super) fn parse(name: &str, text: &[u8]) -> Result<(Self, Vec<usize>), String> {
        if text.len() > MAX_BYTES {
            return Err(format!("it has more than {} KB", MAX_BYTES >> 10));
        }
        // UTF-16, or no text at all.
        if text.contains(&0) {
            return Err("it is not UTF-8".to_owned());
        }
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        if name == NAMES_ALL_IF_EMPTY && text.trim_ascii().is_empty() {
            return Ok((Self::All, Vec::new()));
        }
        let is_of_git = !NAMES.contains(&name);
        let mut folded = GitignoreBuilder::new("");
        let mut in_case = (is_of_git && text.contains(&b'!')).then(|| GitignoreBuilder::new(""));
        let (mut count, mut size, mut wrong) = (0, 0, Vec::new());
        for (line, text) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            let has_cr = text.contains(&b'\r');
            // Some old editors end lines with CR alone. For Git, such a line is one rule.
            for text in text.split(|byte| *byte == b'\r') {
                // For Git, a blank is the first character of the names.
                let text = if is_of_git { text } else { text.trim_ascii_start() };
                if text.trim_ascii().is_empty() || text.starts_with(b"#") {
                    continue;
                }
                count += 1;
                if count > MAX_RULES {
                    return Err(format!("it has more than {MAX_RULES} rules"));
                }
                if text.len() > MAX_RULE {
                    return Err(format!("a rule is longer than {MAX_RULE} bytes"));
                }
                size += compiled_size(text) * if in_case.is_some() { 2 } else { 1 };
                if size > MAX_COMPILED {
                    return Err(TOO_COMPLEX.to_owned());
                }
                let mut added = false;
                let may_add = !(is_of_git && has_cr && text.starts_with(b"!"));
                if may_add && let Ok(rule) = std::str::from_utf8(text) {
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
        let build = |rules: GitignoreBuilder| rules.build().map_err(|_| TOO_COMPLEX.to_owned());
        let in_case = in_case.map(build).transpose()?.map(Box::new);
        Ok((Self::Some { folded: build(folded)?, in_case, size }, wrong))
    }

    /// An upper bound of their bytes.
    pub(super) fn size(&self) -> usize {
        if let Self::Some { size, .. } = self { *size } else { 0 }
    }

    /// The decision of the last rule that matches a path, which is relative to the file's folder. Git ignores
    /// case on some disks: a file is private if Git ignores it in either way.
    fn judge(&self, names: Names<'_>, is_dir: bool) -> Option<Verdict<'_>> {
        let Self::Some { folded, in_case, .. } = self else { return Some(Verdict::Hidden(None)) };
        let folded = verdict(folded, names.folded, is_dir);
        let Some(in_case) = in_case else { return folded };
        let in_case = verdict(in_case, names.written, is_dir);
        match (folded, in_case) {
            (Some(Verdict::Hidden(_)), _) => folded,
            (_, Some(Verdict::Hidden(_))) => in_case,
            (Some(_), Some(_)) => Some(Verdict::TakenBack),
            _ => None,
        }
    }
}

fn verdict<'a>(rules: &'a Gitignore, names: &[String], is_dir: bool) -> Option<Verdict<'a>> {
    match rules.matched(names.join("/"), is_dir) {
        Match::None => None,
        Match::Ignore(rule) => Some(Verdict::Hidden(rule.from().and_then(Path::to_str))),
        Match::Whitelist(_) => Some(Verdict::TakenBack),
    }
}

/// An upper bound of the bytes of the compiled rule, in all forms that [`add`] adds.
fn compiled_size(rule: &[u8]) -> usize {
    let mut forms = if rule.iter().any(|byte| b"{}".contains(byte)) { 2 } else { 1 };
    if str::from_utf8(rule).is_ok_and(|rule| spread(rule).is_some()) {
        forms += 2;
    }
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
        let Some(rule) = rewrite(rule) else { return false };
        let rule = if in_case { rule } else { lowercase(&rule) };
        rules.add_line(written.clone(), &rule).is_ok()
    };
    // For git braces are ordinary characters. For the library, and for many users, they enclose
    // alternatives. Both readings make a file private.
    let plain = escape_braces(rule);
    let has_braces = plain != rule;
    let alternatives = !(has_braces && rule.starts_with('!')) && add(rule);
    let spread =
        spread(rule).is_some_and(|rules| rules.iter().all(|rule| add(&escape_braces(rule))));
    let plain = has_braces && add(&plain);
    alternatives || plain || spread
}

fn escape_braces(rule: &str) -> String {
    let mut escaped = String::new();
    let mut rest = rule;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '\\' => c.len_utf8() + rest[1..].chars().next().map_or(0, char::len_utf8),
            // There a brace is one of the characters.
            _ => bracket_length(rest).unwrap_or(c.len_utf8()),
        };
        if matches!(c, '{' | '}') {
            escaped.push('\\');
        }
        escaped.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    escaped
}

/// The names that lead to a file, from a folder.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    /// In lower case.
    pub(super) folded: &'a [String],
    pub(super) written: &'a [String],
}

impl Names<'_> {
    /// The names after the first ones.
    pub(super) fn after(self, count: usize) -> Self {
        Self { folded: &self.folded[count..], written: &self.written[count..] }
    }

    /// Whether the rules of the folders on the way match the file; the rules of the first folder come first.
    /// As in git, deeper rules outweigh higher ones, and nothing below a matched folder can be taken back.
    pub(super) fn are_matched(self, rules: &[Option<&Rules>]) -> bool {
        rules.iter().any(Option::is_some)
            && (1..=self.folded.len())
                .any(|end| matches!(self.judge(rules, end), Some((_, Verdict::Hidden(_)))))
    }

    /// Whether the rules of the folders on the way take the file back, although other rules match the
    /// first `hidden` names: a rule with `!` matches these names, or more of them.
    pub(super) fn are_taken_back(self, rules: &[Option<&Rules>], hidden: usize) -> bool {
        (hidden..=self.folded.len())
            .any(|end| matches!(self.judge(rules, end), Some((_, Verdict::TakenBack))))
    }

    /// The decision of the last rule that matches the first `end` names, and the number of names up to
    /// the folder that has this rule.
    pub(super) fn judge<'r>(
        self,
        rules: &[Option<&'r Rules>],
        end: usize,
    ) -> Option<(usize, Verdict<'r>)> {
        let is_dir = end < self.folded.len();
        (0..end).rev().find_map(|folder| {
            let rules = rules.get(folder).copied().flatten()?;
            let (folded, written) = (&self.folded[folder..end], &self.written[folder..end]);
            Some((folder, rules.judge(Names { folded, written }, is_dir)?))
        })
    }
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
            let of = |depth: usize| {
                let folder = path.split('/').take(depth).collect::<Vec<_>>().join("/");
                files.iter().find(|(of, _)| *of == folder).map(|(_, rules)| rules)
            };
            let rules: Vec<_> = (0..path.split('/').count()).map(of).collect();
            with_names(path, |names| names.are_matched(&rules))
        };
        paths.iter().copied().filter(is_named).collect()
    }

    fn with_names<T>(path: &str, ask: impl FnOnce(Names<'_>) -> T) -> T {
        let written: Vec<_> = path.split('/').map(str::to_owned).collect();
        let folded: Vec<_> = path.split('/').map(lowercase).collect();
        ask(Names { folded: &folded, written: &written })
    }

    /// Returns the paths that are private if the root has a `.gitignore` with these rules.
    fn ignored<'a>(text: &str, paths: &[&'a str]) -> Vec<&'a str> {
        let rules = [Some(&parse(".gitignore", text.as_bytes()).0)];
        let is_ignored = |path: &&str| with_names(path, |names| names.are_matched(&rules));
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

    /// The library would give them another meaning.
    #[test]
    fn a_bracket_with_more_than_characters_and_ranges_is_any_character() {
        let all = ["x-", "x]", "xB", "x\u{e4}", "x1", "x"];
        for (rule, private) in [
            ("x[ab]", &["xB"][..]),
            ("x[A-C0-1]", &["xB", "x1"]),
            ("x[!-]", &["x]", "xB", "x1"]),
            ("x[]b]", &["x]", "xB"]),
            ("x[b-]", &["x-", "xB"]),
            ("x[[:digit:]]", &["x-", "x]", "xB", "x1"]),
            (r"x[\]]", &["x-", "x]", "xB", "x1"]),
            ("x[!a-c]", &["x-", "x]", "xB", "x1"]),
            ("x[z-a]", &["x-", "x]", "xB", "x1"]),
            ("x[@-Z]", &["x-", "x]", "xB", "x1"]),
            ("x[a-c-e]", &["x-", "x]", "xB", "x1"]),
            ("x?\n!x[[:alpha:]]", &["x-", "x]", "xB", "x1"]),
            ("x?\n!x[ab]", &["x-", "x]", "x1"]),
            ("x[[:a]", &["x-", "x]", "xB", "x1"]),
            ("x[[:a", &[]),
        ] {
            assert_eq!(named(&[("", rule)], &all), private, "{rule}");
        }
    }

    #[test]
    fn whatever_git_ignores_is_hidden() {
        for (text, hidden, others) in [
            ("*\n![[:upper:]]*", &["abc"][..], &[][..]),
            ("*\n![@-_]*", &["abc"], &[]),
            ("*\n!ab*\n!CD", &["ABC", "cd"], &["abc", "CD"]),
            ("*[[:punct:]]", &["a~", "d/a~"], &[]),
            ("[!A-Z]*", &["abc", "d/abc"], &[]),
            ("[!a-z]*", &["README"], &[]),
            ("[^A]", &["a"], &[]),
            ("*\n !a\n#", &["a", " !a"], &[]),
            (" *.log\n #a", &[" b.log", " #a"], &["b.log", "#a"]),
            ("[bz-a]", &["b", "z"], &[]),
            ("[!z-a]", &["b", "-"], &[]),
            ("***/x", &["x", "a/b/x"], &["a/b/y"]),
            ("a/*\n!a[!1]b", &["a/b"], &[]),
            ("a/*\n!a[/]b", &["a/b"], &[]),
            ("a/*\n!a[!-9]b", &["a/b"], &[]),
            ("a/*\n!a[+-9]b", &["a/b"], &[]),
            ("a/***/b", &["a/b", "a/c/d/b"], &["c/b"]),
            ("a*\n!\\/", &["ab/c"], &[]),
            ("*\n!/**\t", &["a", "b/c"], &[]),
            ("*\n!a\u{3000} ", &["a"], &[]),
            ("}\n\\{a}\n{b", &["}", "{a}", "{b"], &["a", "b"]),
            ("*\n![", &["["], &[]),
            ("*\n!a\rb", &["a"], &[]),
            ("*\n!**//", &["a", "a/b"], &[]),
            ("a**/b\n{**/c", &["ab", "ax/b", "a/b", "a/x/y/b", "{/x/c"], &["b", "x/ab"]),
            ("a**/**/b", &["ab", "azz/b", "a/x/b"], &["b", "x/ab"]),
            ("a**/**/", &["a/f", "ab/f", "ab/c/g"], &["ab", "b/f"]),
            ("a**\\/b\nx/**\\/c", &["azz/y/b", "x/p/q/c"], &["b", "c"]),
            ("x[}]\ny[{]", &["x}", "y{"], &["xa", "ya"]),
            ("x?\n!x[}]", &["xa"], &["x}"]),
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
        let (rules, wrong) =
            parse(".geminiignore", b"a\n![z-a[:x:]]\n\xe9t\xe9\n\nlast\\\n!\n/\nc");
        assert_eq!(wrong, [2, 3, 5, 6, 7], "{rules:?}");
        for path in ["a", "c"] {
            let verdict = with_names(path, |names| rules.judge(names, false));
            assert_eq!(verdict, Some(Verdict::Hidden(Some(path))), "{path}");
        }
        assert_eq!(with_names("d", |names| rules.judge(names, false)), None);
    }

    #[test]
    fn an_empty_aiexclude_names_everything() {
        let named_by = |name: &str, text: &str| {
            let rules = parse(name, text.as_bytes()).0;
            with_names("a", |names| rules.judge(names, false)).is_some()
        };
        for text in ["", "\u{feff}", " \r\n\n"] {
            assert!(matches!(parse(".aiexclude", text.as_bytes()).0, Rules::All), "{text:?}");
            for other in [".geminiignore", ".aiignore"] {
                assert!(!named_by(other, text), "{other}");
            }
        }
        assert!(!named_by(".aiexclude", "# nothing yet"));
    }

    #[test]
    fn what_is_too_much_or_no_text_is_refused() {
        let refusal = |text: &[u8]| Rules::parse(".aiignore", text).err().unwrap_or_default();
        let rules = |count: usize, rule: fn(usize) -> String| -> Vec<u8> {
            (0..count).flat_map(|n| rule(n).into_bytes()).collect()
        };
        let (plain, wild) =
            (|n| format!("/some/folder{n}/*.txt\n"), |n| format!("*a{n}/**/b*c{n}?\n"));
        assert_eq!(refusal(&rules(MAX_RULES, plain)), "");
        assert_eq!(refusal(&rules(MAX_RULES + 1, plain)), "it has more than 2000 rules");
        assert_eq!(refusal(&rules(100_000, plain)), "it has more than 1024 KB");
        assert_eq!(refusal(&rules(MAX_RULES, wild)), "");
        let long = |count| format!("{}\n", "?".repeat(MAX_RULE)).repeat(count).into_bytes();
        assert_eq!(refusal(&long(40)), "");
        assert_eq!(refusal(&long(400)), "its rules are too complex");
        let of_git = [b"!a\n".to_vec(), long(100)].concat();
        assert_eq!(Rules::parse(".gitignore", &of_git).unwrap_err(), "its rules are too complex");
        assert_eq!(refusal(&b"?".repeat(MAX_RULE + 1)), "a rule is longer than 1024 bytes");
        assert_eq!(refusal(&b"a\n".repeat(100_000)), "it has more than 2000 rules");
        assert_eq!(refusal(&vec![b'#'; 10 << 20]), "it has more than 1024 KB");
        assert_eq!(refusal(&vec![b'#'; MAX_BYTES]), "");
        // As Windows shells write it.
        assert_eq!(refusal(b"\xff\xfe*\0.\0k\0e\0y\0"), "it is not UTF-8");
        assert_eq!(refusal(b"\x7fELF\x02\x01\x01\0\0"), "it is not UTF-8");
    }
}
