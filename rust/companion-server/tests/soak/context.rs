//! Simulates open files in the editor at random, and computes the context that clients must
//! receive.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use companion_protocol::ide::MAX_OPEN_FILES;
use companion_server::Server;
use serde_json::{Value, json};

use crate::common::notify;

struct File {
    path: String,
    cursor: Option<(u32, u32)>,
    selection: String,
}

pub(crate) struct Files {
    server: Server,
    dir: tempfile::TempDir,
    rng: fastrand::Rng,
    /// The newest focus is first.
    open: Vec<File>,
    /// Whether the first file has the focus.
    active: bool,
    last_name: u32,
}

impl Files {
    pub(crate) fn new(server: Server, rng: fastrand::Rng) -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { server, dir, rng, open: Vec::new(), active: false, last_name: 0 }
    }

    /// Changes the open files at random.
    pub(crate) fn step(&mut self) {
        match self.rng.u32(0..100) {
            _ if self.open.is_empty() => self.open_new(),
            0..50 => self.move_caret(),
            50..65 => self.select(),
            65..80 => self.focus(),
            80..88 if self.open.len() < 14 => self.open_new(),
            88..94 => self.rename(),
            94..97 => {
                let file = self.take_one();
                self.notify("editor/closed", &json!({ "path": file.path }));
                fs::remove_file(file.path).unwrap();
            }
            _ => {
                let file = self.take_one();
                fs::remove_file(&file.path).unwrap();
                self.notify("editor/deleted", &json!({ "path": file.path }));
            }
        }
    }

    fn notify(&self, method: &str, params: &Value) {
        notify(&self.server, method, params);
    }

    fn new_path(&mut self) -> String {
        self.last_name += 1;
        let path: PathBuf = self.dir.path().join(self.last_name.to_string());
        path.into_os_string().into_string().unwrap()
    }

    fn open_new(&mut self) {
        let path = self.new_path();
        fs::write(&path, "").unwrap();
        let file = File { path, cursor: None, selection: String::new() };
        if self.rng.bool() {
            self.notify("editor/focused", &json!({ "path": file.path }));
            self.open.insert(0, file);
            self.active = true;
        } else {
            self.notify("editor/opened", &json!({ "path": file.path }));
            self.open.push(file);
        }
    }

    fn focus(&mut self) {
        let file = self.rng.usize(0..self.open.len());
        let file = self.open.remove(file);
        self.notify("editor/focused", &json!({ "path": file.path }));
        self.open.insert(0, file);
        self.active = true;
    }

    pub(crate) fn move_caret(&mut self) {
        let file = self.rng.usize(0..self.open.len().min(2));
        let (line, character) = (self.rng.u32(1..9999), self.rng.u32(1..200));
        self.open[file].cursor = Some((line, character));
        let path = &self.open[file].path;
        self.notify(
            "editor/cursor",
            &json!({ "path": path, "line": line, "character": character }),
        );
    }

    fn select(&mut self) {
        let text = "x\u{1f600}\n".repeat(self.rng.usize(0..2000));
        self.notify("editor/selection", &json!({ "path": self.open[0].path, "text": text }));
        self.open[0].selection = text;
    }

    fn rename(&mut self) {
        let to = self.new_path();
        let file = self.rng.usize(0..self.open.len());
        fs::rename(&self.open[file].path, &to).unwrap();
        self.notify("editor/renamed", &json!({ "from": self.open[file].path, "to": to }));
        self.open[file].path = to;
    }

    fn take_one(&mut self) -> File {
        let file = self.rng.usize(0..self.open.len());
        self.active &= file != 0;
        self.open.remove(file)
    }

    /// Returns the final context of every client, without times.
    pub(crate) fn expected(&self) -> Value {
        let told = self.open.iter().take(MAX_OPEN_FILES).enumerate().map(|(position, file)| {
            let mut told = json!({ "path": file.path });
            if self.active && position == 0 {
                told["isActive"] = true.into();
                if let Some((line, character)) = file.cursor {
                    told["cursor"] = json!({ "line": line, "character": character });
                }
                if !file.selection.is_empty() {
                    told["selectedText"] = file.selection.as_str().into();
                }
            }
            told
        });
        told.collect()
    }
}

/// Returns a received context without its times, after checking that they do not increase. Returns
/// `null` if there is no context yet.
pub(crate) fn without_times(context: &Value) -> Value {
    let mut told = context["workspaceState"]["openFiles"].clone();
    let Some(files) = told.as_array_mut() else { return told };
    let times: Vec<_> = files
        .iter_mut()
        .map(|file| file.as_object_mut().expect("an object").remove("timestamp"))
        .map(|time| time.and_then(|time| time.as_u64()).expect("a time"))
        .collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    let paths: HashSet<_> = files.iter().map(|file| file["path"].to_string()).collect();
    assert_eq!(paths.len(), times.len(), "a file is told twice");
    told
}
