//! Tests the context of a client while files are private or become private.

use std::fs::{remove_dir_all, remove_file, rename, write};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::Scene;
use crate::clock::now_ms;
use crate::privacy::rules::NAMES;
use crate::testing::{EditorCall, Rig, Stream};

/// A server with the root `project` and a client, in real time.
struct Told {
    scene: Scene,
    rig: Rig,
    session: String,
    stream: Stream,
}

impl Told {
    async fn new(files: &[(&str, &str)]) -> Self {
        let scene = Scene::new(files);
        let root = scene.base.join("project");
        let rig = Rig::with(|config| config.settings.workspace = vec![root]);
        let session = rig.initialize().await;
        let mut stream = rig.stream(&session).await;
        stream.context().await;
        Self { scene, rig, session, stream }
    }

    fn focus(&self, path: &str) {
        let (path, now) = (self.scene.at(path), now_ms());
        self.rig.parts.context.update(|model| model.focused(&path, now));
    }

    fn select(&self, path: &str, text: &str) {
        let path = self.scene.at(path);
        self.rig.parts.context.update(|model| model.selection(&path, text));
    }

    /// Waits for a context with these files, the newest focus first, and returns it.
    async fn files(&mut self, paths: &[&str]) -> Value {
        let wanted: Vec<_> = paths.iter().map(|path| self.scene.at(path)).collect();
        let waiting = async {
            loop {
                let context = self.stream.context().await;
                let files = context["workspaceState"]["openFiles"].as_array().unwrap();
                let told: Vec<_> =
                    files.iter().map(|file| file["path"].as_str().unwrap()).collect();
                if told == wanted {
                    return context;
                }
            }
        };
        timeout(Duration::from_secs(30), waiting).await.unwrap_or_else(|_| panic!("{paths:?}"))
    }

    fn private(&self) -> Vec<String> {
        let told = self.rig.private.lock().clone();
        assert_eq!(self.rig.parts.context.private_files().paths, told, "the status says the same");
        told
    }
}

const KEY: &str = "project/a/x.hid";
const TEXT: &str = "project/a/x.txt";
const RULES: &str = "project/.geminiignore";
const STAYS_PRIVATE: &str =
    "getDiagnostics: the file stays private; an ignore file lists it, or it may contain secrets";

#[tokio::test]
async fn a_private_file_is_told_neither_as_open_nor_by_its_selection() {
    let mut told = Told::new(&[(KEY, ""), (TEXT, ""), (RULES, "*.hid")]).await;
    told.focus(TEXT);
    told.files(&[TEXT]).await;
    assert_eq!(told.private(), [""; 0]);
    told.focus(KEY);
    told.select(KEY, "a secret");
    let context = told.files(&[TEXT]).await;
    assert_eq!(context["workspaceState"]["openFiles"][0].get("isActive"), None, "{context}");
    assert!(!context.to_string().contains("secret"));
    assert_eq!(told.private(), [told.scene.at(KEY)]);
    told.focus(TEXT);
    told.files(&[TEXT]).await;
}

#[tokio::test]
async fn a_new_rule_takes_back_what_was_told() {
    for folder in ["project", "project/a"] {
        for name in NAMES {
            let mut told = Told::new(&[(KEY, ""), (TEXT, "")]).await;
            told.focus(TEXT);
            told.focus(KEY);
            told.select(KEY, "a secret");
            let context = told.files(&[KEY, TEXT]).await;
            assert_eq!(context["workspaceState"]["openFiles"][0]["selectedText"], "a secret");
            told.scene.write(&format!("{folder}/{name}"), "*.hid");
            told.files(&[TEXT]).await;
            assert_eq!(told.private(), [told.scene.at(KEY)]);
        }
    }
}

#[tokio::test]
async fn rules_are_followed_through_everything_that_happens_to_their_file() {
    let mut told = Told::new(&[(KEY, ""), (TEXT, ""), (RULES, "*.hid"), ("other", "*.txt")]).await;
    let base = told.scene.base.clone();
    let at = |path: &str| base.join(path);
    let (rules, other, folder) = (at(RULES), at("other"), at("project/a"));
    told.focus(TEXT);
    told.focus(KEY);
    told.files(&[TEXT]).await;
    // Editors save like this.
    rename(&other, &rules).unwrap();
    told.files(&[KEY]).await;
    rename(&rules, &other).unwrap();
    told.files(&[KEY, TEXT]).await;
    rename(&other, folder.join(".aiexclude")).unwrap();
    told.files(&[KEY]).await;
    // The folder is renamed, and another folder takes its place.
    rename(&folder, at("project/b")).unwrap();
    told.files(&[]).await;
    told.scene.write(KEY, "");
    told.scene.write(TEXT, "");
    // Without these events the server does not notice the new files. `KEY` already has the focus,
    // so `TEXT` gets it first.
    told.focus(TEXT);
    told.focus(KEY);
    told.files(&[KEY, TEXT]).await;
    write(folder.join(".aiignore"), "*.hid").unwrap();
    told.files(&[TEXT]).await;
    remove_dir_all(&folder).unwrap();
    told.files(&[]).await;
}

#[cfg(unix)]
#[tokio::test]
async fn rules_that_a_link_leads_to_are_followed() {
    for (target, there) in [("project/.gitignore", ".gitignore"), ("other/rules", "../other/rules")]
    {
        let mut told = Told::new(&[(KEY, ""), (TEXT, ""), (target, "")]).await;
        std::os::unix::fs::symlink(there, told.scene.base.join(RULES)).unwrap();
        told.focus(TEXT);
        told.focus(KEY);
        told.files(&[KEY, TEXT]).await;
        told.scene.write(target, "*.hid");
        told.files(&[TEXT]).await;
        // Nothing is sent at first. Then the rules have changed.
        remove_file(told.scene.base.join(target)).unwrap();
        told.files(&[]).await;
        told.scene.write(target, "*.txt");
        told.files(&[KEY]).await;
    }
}

#[tokio::test]
async fn a_file_that_gets_a_name_that_is_private_is_taken_back() {
    let mut told = Told::new(&[(KEY, ""), (TEXT, ""), (RULES, "*.hid")]).await;
    remove_file(told.scene.base.join(KEY)).unwrap();
    told.focus(TEXT);
    told.select(TEXT, "a secret");
    told.files(&[TEXT]).await;
    rename(told.scene.base.join(TEXT), told.scene.base.join(KEY)).unwrap();
    let (from, to) = (told.scene.at(TEXT), told.scene.at(KEY));
    told.rig.parts.context.update(|model| model.renamed(&from, &to));
    told.files(&[]).await;
}

#[tokio::test]
async fn other_roots_have_other_rules() {
    let mut told = Told::new(&[(KEY, ""), (TEXT, ""), ("project/a/.aiignore", "*.hid")]).await;
    told.focus(TEXT);
    told.focus(KEY);
    told.files(&[TEXT]).await;
    told.rig.parts.workspace.change(vec![told.scene.base.join("elsewhere")]);
    told.files(&[KEY, TEXT]).await;
    told.rig.parts.workspace.change(vec![told.scene.base.clone()]);
    told.files(&[TEXT]).await;
}

#[tokio::test]
async fn the_problems_of_a_private_file_are_not_told() {
    let mut told = Told::new(&[(KEY, ""), (TEXT, ""), (RULES, "*.hid")]).await;
    told.focus(TEXT);
    told.focus(KEY);
    told.files(&[TEXT]).await;
    let (rig, session) = (&told.rig, &told.session);
    let of = async |arguments: Value| rig.call(session, "getDiagnostics", &arguments).await;
    let refused = of(json!({ "filePath": told.scene.at(KEY) })).await;
    assert_eq!(refused["isError"], true);
    assert_eq!(refused["content"][0]["text"], STAYS_PRIVATE);
    let asked = async {
        let EditorCall::Diagnostics(responder, request) = rig.asked().await else {
            panic!("problems")
        };
        assert_eq!(request.paths, [told.scene.at(TEXT)]);
        responder.complete_json(r#"{"files": []}"#);
    };
    let (result, ()) = tokio::join!(of(json!({})), asked);
    assert!(!result.to_string().contains("x.hid"), "{result}");
}

#[tokio::test]
async fn the_problems_of_a_file_that_becomes_private_while_the_editor_looks_are_not_told() {
    for is_one in [false, true] {
        let mut told = Told::new(&[(KEY, ""), (TEXT, "")]).await;
        told.focus(TEXT);
        told.focus(KEY);
        told.files(&[KEY, TEXT]).await;
        let (rig, key) = (&told.rig, told.scene.at(KEY));
        let editor = async {
            let EditorCall::Diagnostics(responder, request) = rig.asked().await else { panic!() };
            assert!(request.paths.contains(&key));
            told.scene.write(RULES, "*.hid");
            let start = json!({ "line": 1, "character": 1 });
            let range = json!({ "start": start, "end": start });
            let problem = json!({ "severity": "error", "message": "bad", "range": range });
            let file = |path: &String| json!({ "path": path, "diagnostics": [problem] });
            let files: Vec<_> = request.paths.iter().map(file).collect();
            responder.complete_json(&json!({ "files": files }).to_string());
        };
        let arguments = if is_one { json!({ "filePath": key }) } else { json!({}) };
        let call = rig.call(&told.session, "getDiagnostics", &arguments);
        let (result, ()) = tokio::join!(call, editor);
        let others = format!("{}:1:1: error: bad", told.scene.at(TEXT));
        let expected = if is_one { STAYS_PRIVATE } else { &others };
        assert_eq!(result["content"][0]["text"], expected);
    }
}

#[tokio::test]
async fn a_project_that_shares_no_context_hides_files_and_problems_and_has_edits_reviewed() {
    let mut told = Told::new(&[(TEXT, "")]).await;
    told.focus(TEXT);
    told.select(TEXT, "a text");
    told.files(&[TEXT]).await;
    told.rig.parts.context.update(|model| model.set_shared(false));
    told.files(&[]).await;
    let (rig, session) = (&told.rig, &told.session);
    let path = told.scene.at(TEXT);
    for arguments in [json!({}), json!({ "filePath": path })] {
        let result = rig.call(session, "getDiagnostics", &arguments).await;
        let why = "getDiagnostics: the user shares nothing of this project with CLIs";
        assert_eq!(
            (&result["isError"], &result["content"][0]["text"]),
            (&json!(true), &json!(why))
        );
    }
    let asked = async {
        let EditorCall::Open(responder, _) = rig.asked().await else { panic!("a proposal") };
        responder.complete(None);
    };
    let arguments = json!({ "filePath": path, "newContent": "new" });
    let (result, ()) = tokio::join!(rig.call(session, "openDiff", &arguments), asked);
    assert_eq!(result.get("isError"), None, "{result}");
    told.rig.parts.context.update(|model| model.set_shared(true));
    let context = told.files(&[TEXT]).await;
    assert_eq!(context["workspaceState"]["openFiles"][0]["selectedText"], "a text");
}
