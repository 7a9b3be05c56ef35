//! Tests the report of diagnostics for the model.

use companion_protocol::diagnostics::{
    Diagnostic, DiagnosticsReport, FileDiagnostics, Range, Severity,
};
use companion_protocol::ide::Position;

fn problem(severity: Severity, line: u32, message: &str) -> Diagnostic {
    let start = Position::new(line, 1).unwrap();
    let range = Range { start, end: start };
    Diagnostic { severity, message: message.to_owned(), range, source: None, code: None }
}

fn file(path: &str, diagnostics: Vec<Diagnostic>) -> (FileDiagnostics, usize) {
    (FileDiagnostics { path: path.to_owned(), diagnostics, incomplete: None }, 0)
}

/// Makes `count` diagnostics, one per line.
fn problems(severity: Severity, count: u32) -> Vec<Diagnostic> {
    (1..=count).map(|line| problem(severity, line, "m")).collect()
}

#[test]
fn each_problem_has_a_line_from_top_to_bottom() {
    let mut unused = problem(Severity::Information, 1, "Unused\n  name\u{7}");
    unused.source = Some("Lint".to_owned());
    unused.code = Some("W1".to_owned());
    let broken = problem(Severity::Error, 3, "Expected ','");
    let report = DiagnosticsReport::new([file("/a", vec![broken, unused]), file("/b", vec![])]);
    assert_eq!(
        report.text(),
        "/a:1:1: information: Unused name [Lint W1]\n/a:3:1: error: Expected ','\n\
         No problems in 1 other file."
    );
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["files"][0]["diagnostics"][1]["range"]["start"]["line"], 3);
    assert_eq!(serde_json::from_value::<DiagnosticsReport>(json).unwrap(), report);
}

#[test]
fn the_text_counts_omitted_problems() {
    let (mut found, _) = file("/a", problems(Severity::Warning, 51));
    found.incomplete = Some("the IDE is still indexing".to_owned());
    let text = DiagnosticsReport::new([(found, 2)]).text();
    assert!(
        text.ends_with(
            "\n/a: 2 problems were there before.\n/a: 1 more problem is not listed.\n\
             /a: there may be more problems: the IDE is still indexing."
        ),
        "{text}"
    );
    assert_eq!(DiagnosticsReport::new([file("/a", vec![])]).text(), "No problems in /a.");
    assert_eq!(DiagnosticsReport::new([]).text(), "");
}

#[test]
fn a_file_keeps_its_fifty_most_severe_problems() {
    let mut many = problems(Severity::Hint, 60);
    many.push(problem(Severity::Error, 1000, "the error"));
    let report = DiagnosticsReport::new([file("/a", many)]);
    assert_eq!(report.files[0].found.diagnostics.len(), 50);
    assert_eq!(report.files[0].omitted, 11);
    assert!(report.text().contains("/a:1000:1: error: the error\n"));
}

#[test]
fn a_report_keeps_the_two_hundred_most_severe_problems() {
    let files = (0..5).map(|n| file(&format!("/{n}"), problems(Severity::Warning, 50)));
    let errors = file("/last", problems(Severity::Error, 10));
    let report = DiagnosticsReport::new(files.chain([errors]));
    let counts = report.files.iter().map(|file| (file.found.diagnostics.len(), file.omitted));
    let expected = [(50, 0), (50, 0), (50, 0), (40, 10), (0, 50), (10, 0)];
    assert_eq!(counts.collect::<Vec<_>>(), expected);
}

#[test]
fn the_text_stays_short_with_long_messages() {
    let long = "é".repeat(5_000);
    let mut worst = problem(Severity::Error, 40, &long);
    (worst.source, worst.code) = (Some(long.clone()), Some(String::new()));
    let mut many: Vec<_> = (1..40).map(|at| problem(Severity::Warning, at, &long)).collect();
    many.push(worst);
    let report = DiagnosticsReport::new([file("/a", many)]);
    let text = report.text();
    assert!((10_000..18_000).contains(&text.len()), "{}", text.len());
    assert!(text.contains("/a:40:1: error: é") && text.contains("more problems are not listed"));
    assert_eq!(report.files[0].found.diagnostics.len() + report.files[0].omitted, 40);
}

#[test]
fn a_file_name_cannot_forge_a_line() {
    let path = "/a\n/b:1:1: error: forged\u{1b}[31m  c";
    let report = DiagnosticsReport::new([file(path, problems(Severity::Error, 1))]);
    let text = report.text();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("[31m  c:") && !text.contains('\u{1b}'), "{text}");
    let clean = DiagnosticsReport::new([file(path, Vec::new())]);
    assert_eq!(clean.text().lines().count(), 1);
    assert_eq!(clean.files[0].found.path, path, "programs get it as it is");
}
