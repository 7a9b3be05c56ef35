//! Tests processes that run one after the other and side by side.

mod clients;
mod disks;
mod peers;
mod processes;
mod repeated;

use std::fs;
use std::path::{Path, PathBuf};

use companion_core::notes::{Note, Reason};
use companion_core::record::Record;
use companion_protocol::editor::CommentOnLines;
use companion_protocol::settings::Settings;
use tempfile::TempDir;

use super::{Peers, Resume, Resumed, Saving};
use crate::config::Config;
use crate::disk::pool::BlockingPool;
use crate::journal::Batch;
use crate::runtime::Runtime;

/// A process that runs as long as the tests do, and one that does not run.
const ALIVE: u32 = 1;
const DEAD: u32 = 0x3fff_fffe;

fn config(root: &str, pid: u32) -> Config {
    let workspace = vec![PathBuf::from(root)];
    Config::new(Settings { workspace, ide_pid: pid, ..Settings::default() })
}

fn begin(last: Resume, port: u16) -> (String, Saving) {
    let token = last.head.token.expose().to_owned();
    (token, begin_with_peers(last, port).0)
}

fn begin_with_peers(last: Resume, port: u16) -> (Saving, Peers) {
    let runtime = Runtime::start().unwrap();
    let pool = BlockingPool::new(runtime.alive().clone()).unwrap();
    let Resumed { saving, peers, .. } = last.begin(port, &pool);
    (runtime.handle().block_on(saving).unwrap(), peers)
}

/// Claims the state for a process.
fn claim(dir: &TempDir, config: &Config) -> Resume {
    Resume::try_claim(Some(dir.path().to_owned()), config).unwrap()
}

/// Starts a process that listens on `port`. Dropping the returned value kills it.
fn run(dir: &TempDir, config: &Config, port: u16) -> (String, Saving) {
    begin(claim(dir, config), port)
}

/// Saves records. Returns whether that succeeded.
fn take(saving: &mut Saving, records: Vec<Record>) -> bool {
    saving.attempt(|file| file.take(Batch { records, ..Batch::default() }))
}

/// Returns the token of the next process, and the port that it tries first.
fn next(dir: &TempDir, config: &Config) -> (String, u16) {
    let last = claim(dir, config);
    (last.head.token.expose().to_owned(), last.head.port)
}

/// Returns the only file.
fn file(dir: &TempDir) -> PathBuf {
    let [file] = &*files(dir.path(), ".jsonl") else { panic!() };
    file.clone()
}

/// Returns the files in the state directory `dir` with this ending.
fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(dir.join("companion-for-gemini-cli/resume")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    files.filter(|file| file.to_str().unwrap().ends_with(ending)).collect()
}

fn comment(id: &str, text: &str) -> Note {
    Note::Comment(CommentOnLines {
        id: id.into(),
        path: "/a/b".into(),
        line: 1,
        end_line: 1,
        content: "line".into(),
        text: text.into(),
    })
}

/// Returns a reason that waits since this time.
fn reason(since: u64) -> Note {
    let (cli, path, text) = ("cli".into(), "/a".into(), "no".to_owned().into());
    Note::Reason(Reason { cli, process: None, path, text, since })
}
