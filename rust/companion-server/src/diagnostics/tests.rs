//! Tests the tool `getDiagnostics`, from the call to the editor and back.

use std::ops::Range;

use companion_protocol::diagnostics::{Diagnostic, DiagnosticsRequest, FileDiagnostics, Severity};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep, timeout};

use super::known::{KnownProblems, MAX_FILES, MAX_PROBLEMS};
use crate::host::Responder;
use crate::tests::{EditorCall, Rig, unsupported};

/// A server for a folder with the files `a` and `b`, and one client.
struct Scene {
    rig: Rig,
    session: String,
    dir: tempfile::TempDir,
}

impl Scene {
    async fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let rig = Rig::with(|config| config.settings.workspace = vec![dir.path().to_owned()]);
        let session = rig.initialize().await;
        Self { rig, session, dir }
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    async fn call(&self, arguments: &Value) -> Value {
        self.rig.call(&self.session, "getDiagnostics", arguments).await
    }

    /// Calls the tool, and makes the editor answer the request.
    async fn asked(
        &self,
        arguments: &Value,
        answer: impl FnOnce(Responder, &DiagnosticsRequest),
    ) -> Value {
        let editor = async {
            let EditorCall::Diagnostics(responder, request) = self.rig.asked().await else {
                panic!()
            };
            answer(responder, &request);
        };
        tokio::join!(self.call(arguments), editor).0
    }

    /// Reports errors with these messages for the file `a`. Returns the answer's text.
    async fn has(&self, arguments: &Value, messages: &[&str], incomplete: Option<&str>) -> String {
        let mut file = json!({ "path": self.path("a"), "diagnostics": errors(messages) });
        if let Some(why) = incomplete {
            file["incomplete"] = why.into();
        }
        let answer = json!({ "files": [file] }).to_string();
        let result = self.asked(arguments, |responder, _| responder.complete_json(&answer)).await;
        text(&result).replace(&self.path("a"), "a")
    }
}

fn errors(messages: &[&str]) -> Value {
    let start = json!({ "line": 1, "character": 2 });
    let range = json!({ "start": start, "end": start });
    let error = |message: &&str| json!({ "severity": "error", "message": message, "range": range });
    messages.iter().map(error).collect()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// Returns the error message of a failed call.
fn failure(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    text(result)
}

#[tokio::test]
async fn the_problems_of_a_file_come_as_text_and_for_programs() {
    let x = Scene::start().await;
    let path = x.path("a");
    let arguments = json!({ "filePath": path, "severity": "warning" });
    let result = x
        .asked(&arguments, |responder, request| {
            assert_eq!(request.paths, std::slice::from_ref(&path));
            assert_eq!(request.severity, Severity::Warning);
            let answer = json!({ "files": [{ "path": path, "diagnostics": errors(&["bad"]) }] });
            responder.complete_json(&answer.to_string());
        })
        .await;
    assert_eq!(text(&result), format!("{path}:1:2: error: bad"));
    let file = &result["structuredContent"]["files"][0];
    assert_eq!((&file["path"], &file["diagnostics"][0]["message"]), (&json!(path), &json!("bad")));
}

#[tokio::test]
async fn without_a_path_it_is_about_the_open_files_of_the_workspace() {
    let x = Scene::start().await;
    assert_eq!(text(&x.call(&json!({})).await), "No file of the workspace is open in the editor.");
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    for path in [&x.path("a"), elsewhere.path().to_str().unwrap(), &x.path("b")] {
        x.rig.parts.context.update(|model| model.focused(path, 1));
    }
    let result = x
        .asked(&json!({}), |responder, request| {
            assert_eq!(request.paths, [x.path("b"), x.path("a")]);
            let more = json!({ "path": "/etc/passwd", "diagnostics": errors(&["secret"]) });
            let b = json!({ "path": x.path("b"), "diagnostics": [] });
            responder.complete_json(&json!({ "files": [more, b] }).to_string());
        })
        .await;
    let a = x.path("a");
    let expected = format!(
        "{a}: there may be more problems: the editor says nothing about this file.\n\
         No problems in 1 other file."
    );
    assert_eq!(text(&result), expected);
}

#[tokio::test]
async fn a_problem_is_new_if_it_was_not_there_the_last_time() {
    let x = Scene::start().await;
    let all = json!({ "filePath": x.path("a") });
    let new = json!({ "filePath": x.path("a"), "onlyNew": true, "severity": "error" });
    for (arguments, messages, incomplete, expected) in [
        (&new, &["one"][..], None, "a:1:2: error: one"),
        (&new, &["one"], None, "a: 1 problem was there before."),
        (
            &new,
            &["two", "one", "one"],
            None,
            "a:1:2: error: two\na:1:2: error: one\na: 1 problem was there before.",
        ),
        (&new, &["two"], None, "a: 1 problem was there before."),
        (&new, &[], None, "No problems in a."),
        (&new, &["two"], None, "a:1:2: error: two"),
        (&all, &["one"], None, "a:1:2: error: one"),
        // Diagnostics that an incomplete answer omits are not forgotten.
        (&new, &[], Some("it is indexing"), "a: there may be more problems: it is indexing."),
        (&new, &["one"], None, "a: 1 problem was there before."),
    ] {
        assert_eq!(x.has(arguments, messages, incomplete).await, expected, "{messages:?}");
    }
}

/// Some IDEs never know whether they have found all.
#[tokio::test]
async fn an_editor_whose_answers_are_all_incomplete_reports_each_problem_once() {
    let x = Scene::start().await;
    let new = json!({ "filePath": x.path("a"), "onlyNew": true });
    let part = "a: there may be more problems: it is indexing.";
    for (messages, expected) in [
        (&["one"][..], &["a:1:2: error: one", part][..]),
        (&["one", "two"], &["a:1:2: error: two", "a: 1 problem was there before.", part]),
        (&["two"], &["a: 1 problem was there before.", part]),
        (&["two", "one", "one"], &["a:1:2: error: one", "a: 2 problems were there before.", part]),
    ] {
        let text = x.has(&new, messages, Some("it is indexing")).await;
        let mut lines: Vec<_> = text.lines().collect();
        lines.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(lines, expected, "{messages:?}");
    }
}

#[tokio::test]
async fn problems_of_a_report_that_is_refused_in_the_end_stay_new() {
    let x = Scene::start().await;
    let new = json!({ "filePath": x.path("a"), "onlyNew": true });
    let share = |is_shared| x.rig.parts.context.update(|model| model.set_shared(is_shared));
    let file = json!({ "path": x.path("a"), "diagnostics": errors(&["bad"]) });
    let answer = json!({ "files": [file] }).to_string();
    let refused = x.asked(&new, |responder, _| {
        share(false);
        responder.complete_json(&answer);
    });
    assert!(failure(&refused.await).contains("the user shares nothing"));
    share(true);
    assert_eq!(x.has(&new, &["bad"], None).await, "a:1:2: error: bad");
}

#[tokio::test]
async fn what_is_not_asked_for_is_not_forgotten() {
    let x = Scene::start().await;
    let all = json!({ "filePath": x.path("a"), "onlyNew": true });
    let worst = json!({ "filePath": x.path("a"), "onlyNew": true, "severity": "error" });
    let mut warning = errors(&["unused"]);
    warning[0]["severity"] = "warning".into();
    let has = async |arguments: &Value, problems: &Value| {
        let answer = json!({ "files": [{ "path": x.path("a"), "diagnostics": problems }] });
        let answer = answer.to_string();
        let result = x.asked(arguments, |responder, _| responder.complete_json(&answer)).await;
        text(&result).replace(&x.path("a"), "a")
    };
    assert_eq!(has(&all, &warning).await, "a:1:2: warning: unused");
    assert_eq!(has(&worst, &errors(&["bad"])).await, "a:1:2: error: bad");
    assert_eq!(has(&worst, &json!([])).await, "No problems in a.");
    assert_eq!(has(&all, &warning).await, "a: 1 problem was there before.");
}

/// Returns a file with these of many problems.
fn file(path: &str, problems: Range<usize>) -> FileDiagnostics {
    let one: Diagnostic = serde_json::from_value(errors(&["bad"])[0].take()).unwrap();
    let diagnostics =
        problems.map(|number| Diagnostic { code: Some(number.to_string()), ..one.clone() });
    FileDiagnostics { path: path.to_owned(), diagnostics: diagnostics.collect(), incomplete: None }
}

/// Returns how many of `count` problems of the file are new.
fn new(known: &mut KnownProblems, path: &str, count: usize) -> usize {
    known.replace(&file(path, 0..count), Severity::Hint).len()
}

#[test]
fn problems_of_incomplete_lists_do_not_pile_up() {
    let mut known = KnownProblems::default();
    let mut new = |problems| {
        let part = FileDiagnostics { incomplete: Some("x".to_owned()), ..file("a", problems) };
        known.replace(&part, Severity::Hint).len()
    };
    assert_eq!(new(0..MAX_PROBLEMS + 1), MAX_PROBLEMS + 1);
    assert_eq!(new(MAX_PROBLEMS + 1..MAX_PROBLEMS + 2), 1);
    assert_eq!(new(0..1), 1);
}

#[test]
fn no_more_problems_are_forgotten_than_has_to_be() {
    let mut known = KnownProblems::default();
    for (path, count) in [("a", 20_000), ("b", 20_000), ("a", 0), ("a", 20_000), ("c", 40_000)] {
        assert_eq!(new(&mut known, path, count), count);
    }
    assert_eq!(new(&mut known, "a", 20_000), 0);
    assert_eq!(new(&mut known, "b", 1), 1, "it was asked about first");
}

#[test]
fn as_many_problems_and_files_are_remembered_as_may_be() {
    for (files, asked, is_known) in [
        (&[("a", 1), ("b", MAX_PROBLEMS - 1)][..], "a", true),
        (&[("a", 1), ("b", MAX_PROBLEMS)], "a", false),
        (&[("a", 1), ("b", MAX_PROBLEMS)], "b", true),
        (&[("a", 2), ("b", 40_000), ("c", 40_000)], "b", false),
        // One file is remembered however many diagnostics it has.
        (&[("a", MAX_PROBLEMS + 1)], "a", true),
    ] {
        let mut known = KnownProblems::default();
        for (path, count) in files {
            new(&mut known, path, *count);
        }
        assert_eq!(new(&mut known, asked, 1) == 0, is_known, "{asked} of {files:?}");
    }
    let mut known = KnownProblems::default();
    for number in 0..MAX_FILES {
        new(&mut known, &number.to_string(), 1);
    }
    assert_eq!(new(&mut known, "0", 1), 0);
    assert_eq!(new(&mut known, "one more", 1), 1);
    assert_eq!(new(&mut known, "2", 1), 0);
    assert_eq!(new(&mut known, "1", 1), 1, "it was asked about first");
}

/// The editor may use its whole time, and the server must still read the answer.
#[tokio::test(start_paused = true)]
async fn an_answer_in_the_last_moment_is_passed_on() {
    let x = Scene::start().await;
    let arguments = json!({ "filePath": x.path("a") });
    let editor = async {
        let EditorCall::Diagnostics(responder, request) = x.rig.asked().await else { panic!() };
        sleep(x.rig.parts.config.limits.diagnostics_timeout).await;
        let file = json!({ "path": request.paths[0], "diagnostics": errors(&["bad"]) });
        responder.complete_json(&json!({ "files": [file] }).to_string());
    };
    let ((), result) = tokio::join!(biased; editor, x.call(&arguments));
    assert_eq!(text(&result), format!("{}:1:2: error: bad", x.path("a")));
}

#[tokio::test]
async fn an_error_says_why_problems_can_not_be_listed() {
    let x = Scene::start().await;
    for (path, why) in [
        ("/etc/passwd".to_owned(), "getDiagnostics: the file lies outside of the workspace"),
        (x.path("../a"), "getDiagnostics: the file lies outside of the workspace"),
        ("a".to_owned(), "Invalid arguments: filePath must be an absolute path"),
    ] {
        assert_eq!(failure(&x.call(&json!({ "filePath": path })).await), why);
    }
    let call = json!({ "filePath": x.path("a") });
    let failed = async |answer: fn(Responder)| {
        let result = x.asked(&call, |responder, _| answer(responder)).await;
        failure(&result).to_owned()
    };
    assert_eq!(failed(unsupported).await, "This editor does not report problems.");
    assert_eq!(
        failed(|asked| asked.complete_json("{}")).await,
        "The editor's answer is not valid."
    );
    assert_eq!(failed(|asked| asked.fail("No.")).await, "No.");
    assert_eq!(failed(drop).await, "The editor could not list its problems.");
}

#[tokio::test]
async fn whatever_an_editor_says_of_a_failure_is_one_line_of_a_bounded_length() {
    let x = Scene::start().await;
    let endless = format!("It failed:\n  {}", "at x\n".repeat(1 << 20));
    let call = json!({ "filePath": x.path("a") });
    let result = x.asked(&call, |responder, _| responder.fail(&endless)).await;
    let message = failure(&result);
    assert!(
        message.starts_with("It failed: at x at x ") && message.ends_with('…'),
        "{}",
        &message[..40]
    );
    assert!(message.chars().count() <= 501, "{}", message.len());
}

#[tokio::test(start_paused = true)]
async fn an_editor_that_does_not_answer_is_not_asked_again_until_it_has() {
    let x = Scene::start().await;
    let arguments = json!({ "filePath": x.path("a") });
    // As many calls as the editor gets at a time.
    let call = || x.call(&arguments);
    let results = tokio::join!(call(), call(), call(), call());
    for result in <[_; 4]>::from(results) {
        assert_eq!(failure(&result), "The editor did not answer in time.");
    }
    let late = tokio::join!(x.rig.asked(), x.rig.asked(), x.rig.asked(), x.rig.asked());
    let begin = Instant::now();
    let result = x.call(&arguments).await;
    assert_eq!(failure(&result), "The editor has not answered an earlier question yet.");
    assert_eq!(begin.elapsed(), Duration::ZERO);
    drop(late);
    assert_eq!(x.has(&arguments, &["bad"], None).await, "a:1:2: error: bad");
}

#[tokio::test(start_paused = true)]
async fn an_editor_that_is_still_at_work_for_a_call_that_was_given_up_is_asked() {
    let x = Scene::start().await;
    let arguments = json!({ "filePath": x.path("a") });
    let given_up = timeout(Duration::from_secs(1), x.call(&arguments)).await;
    assert!(given_up.is_err());
    let at_work = x.rig.asked().await;
    assert_eq!(x.has(&arguments, &["bad"], None).await, "a:1:2: error: bad");
    drop(at_work);
}

#[tokio::test(start_paused = true)]
async fn an_editor_that_ignores_calls_that_are_given_up_is_not_asked_for_long() {
    let x = Scene::start().await;
    let arguments = json!({ "filePath": x.path("a") });
    for _ in 0..3 {
        assert!(timeout(Duration::from_secs(1), x.call(&arguments)).await.is_err());
    }
    let result = x.call(&arguments).await;
    assert_eq!(failure(&result), "The editor has not answered an earlier question yet.");
}

#[tokio::test]
async fn switched_off_it_is_no_tool() {
    let rig = Rig::with(|config| config.settings.diagnostics = false);
    let session = rig.initialize().await;
    let result = rig.call(&session, "getDiagnostics", &json!({})).await;
    assert_eq!(failure(&result), "Unknown tool: getDiagnostics");
}
