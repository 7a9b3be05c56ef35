//! Tests the context of a client while files are private or become private.

use std::fs::{remove_dir_all, remove_file, rename, write};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::Scene;
use crate::clock::now_ms;
use crate::tests::{EditorCall, Rig, Stream};

/// A server with the root `project` and a client, in real time.
struct Client {
    scene: Scene,
    rig: Rig,
    session: String,
    stream: Stream,
}

impl Client {
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
                let open: Vec<_> =
                    files.iter().map(|file| file["path"].as_str().unwrap()).collect();
                if open == wanted {
                    return context;
                }
            }
        };
        timeout(Duration::from_secs(30), waiting).await.unwrap_or_else(|_| panic!("{paths:?}"))
    }
}

const KEY: &str = "project/a/x.hid";
const TEXT: &str = "project/a/x.txt";
const RULES: &str = "project/.geminiignore";
const STAYS_PRIVATE: &str = "getDiagnostics: the file stays private; an ignore file lists it, Git ignores it, or it may contain secrets";

#[tokio::test]
async fn rules_are_followed_through_everything_that_happens_to_their_file() {
    let mut client =
        Client::new(&[(KEY, ""), (TEXT, ""), (RULES, "*.hid"), ("other", "*.txt")]).await;
    let base = client.scene.base.clone();
    let at = |path: &str| base.join(path);
    let (rules, other, folder) = (at(RULES), at("other"), at("project/a"));
    client.focus(TEXT);
    client.focus(KEY);
    client.files(&[TEXT]).await;
    // Editors save like this.
    rename(&other, &rules).unwrap();
    client.files(&[KEY]).await;
    rename(&rules, &other).unwrap();
    client.files(&[KEY, TEXT]).await;
    rename(&other, folder.join(".aiexclude")).unwrap();
    client.files(&[KEY]).await;
    // The folder is renamed, and another folder takes its place.
    rename(&folder, at("project/b")).unwrap();
    client.files(&[]).await;
    client.scene.write(KEY, "");
    client.scene.write(TEXT, "");
    // Without these events the server does not notice the new files. `KEY` already has the focus,
    // so `TEXT` gets it first.
    client.focus(TEXT);
    client.focus(KEY);
    client.files(&[KEY, TEXT]).await;
    write(folder.join(".aiignore"), "*.hid").unwrap();
    client.files(&[TEXT]).await;
    remove_dir_all(&folder).unwrap();
    client.files(&[]).await;
}

#[cfg(unix)]
#[tokio::test]
async fn rules_that_a_link_leads_to_are_followed() {
    for (target, there) in [
        ("project/.gitignore", ".gitignore"),
        ("other/rules", "../other/rules"),
        ("other/rules", "../third/link"),
    ] {
        let files = [(KEY, ""), (TEXT, ""), (target, ""), ("third/a", "")];
        let mut client = Client::new(&files).await;
        let link = client.scene.base.join("third/link");
        std::os::unix::fs::symlink("../other/rules", link).unwrap();
        std::os::unix::fs::symlink(there, client.scene.base.join(RULES)).unwrap();
        client.focus(TEXT);
        client.focus(KEY);
        client.files(&[KEY, TEXT]).await;
        client.scene.write(target, "*.hid");
        client.files(&[TEXT]).await;
        // Nothing is sent at first. Then the rules have changed.
        remove_file(client.scene.base.join(target)).unwrap();
        client.files(&[]).await;
        client.scene.write(target, "*.txt");
        client.files(&[KEY]).await;
    }
}

#[tokio::test]
async fn a_file_that_gets_a_name_that_is_private_is_taken_back() {
    let mut client = Client::new(&[(KEY, ""), (TEXT, ""), (RULES, "*.hid")]).await;
    remove_file(client.scene.base.join(KEY)).unwrap();
    client.focus(TEXT);
    client.select(TEXT, "a secret");
    client.files(&[TEXT]).await;
    rename(client.scene.base.join(TEXT), client.scene.base.join(KEY)).unwrap();
    let (from, to) = (client.scene.at(TEXT), client.scene.at(KEY));
    client.rig.parts.context.update(|model| model.renamed(&from, &to));
    client.files(&[]).await;
}

#[tokio::test]
async fn a_root_that_opens_brings_its_rules_which_stay_when_it_closes() {
    const OTHER: &str = "project/a/y.txt";
    for others in [vec!["elsewhere"], vec!["project/a"], Vec::new()] {
        let mut client = Client::new(&[(KEY, ""), (TEXT, ""), (OTHER, ""), (RULES, "*.hid")]).await;
        let (parts, base) = (Arc::clone(&client.rig.parts), client.scene.base.clone());
        let open = |roots: &[&str]| {
            parts.workspace.change(roots.iter().map(|root| base.join(root)).collect());
        };
        client.focus(TEXT);
        client.focus(KEY);
        client.files(&[TEXT]).await;
        open(&others);
        client.focus(OTHER);
        client.focus(KEY);
        client.files(&[OTHER, TEXT]).await;
    }
    let mut client = Client::new(&[(KEY, ""), (TEXT, ""), (".aiignore", "*.hid")]).await;
    client.focus(TEXT);
    client.focus(KEY);
    client.files(&[KEY, TEXT]).await;
    client.rig.parts.workspace.change(vec![client.scene.base.clone()]);
    client.files(&[TEXT]).await;
}

#[tokio::test]
async fn the_problems_of_a_file_that_becomes_private_while_the_editor_looks_are_not_shared() {
    for is_one in [false, true] {
        let mut client = Client::new(&[(KEY, ""), (TEXT, "")]).await;
        client.focus(TEXT);
        client.focus(KEY);
        client.files(&[KEY, TEXT]).await;
        let (rig, key) = (&client.rig, client.scene.at(KEY));
        let editor = async {
            let EditorCall::Diagnostics(responder, request) = rig.asked().await else { panic!() };
            assert!(request.paths.contains(&key));
            client.scene.write(RULES, "*.hid");
            let start = json!({ "line": 1, "character": 1 });
            let range = json!({ "start": start, "end": start });
            let problem = json!({ "severity": "error", "message": "bad", "range": range });
            let file = |path: &String| json!({ "path": path, "diagnostics": [problem] });
            let files: Vec<_> = request.paths.iter().map(file).collect();
            responder.complete_json(&json!({ "files": files }).to_string());
        };
        let arguments = if is_one { json!({ "filePath": key }) } else { json!({}) };
        let call = rig.call(&client.session, "getDiagnostics", &arguments);
        let (result, ()) = tokio::join!(call, editor);
        let others = format!("{}:1:1: error: bad", client.scene.at(TEXT));
        let expected = if is_one { STAYS_PRIVATE } else { &others };
        assert_eq!(result["content"][0]["text"], expected);
    }
}
