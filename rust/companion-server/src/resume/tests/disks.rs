//! Tests full and faulty disks.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use companion_core::diffs::{Accepted, DiffId};
use companion_core::record::{Left, PendingDiff, Record};
use tempfile::TempDir;

use super::{ALIVE, claim, config, file, files, next, run, take};
use crate::resume::Saving;
use crate::session::{Client, SessionId};
use crate::tests::logged;
use companion_core::text::Text;

fn diff(number: &str) -> DiffId {
    DiffId::parse(number).unwrap()
}

/// Returns the records of a client that proposed an edit that the user accepted.
fn accepted(text: &str) -> Vec<Record> {
    let session = SessionId::new();
    let opened = Record::Opened(diff("1"), session, "/a".into());
    vec![
        Record::Session(session, Client::default()),
        opened,
        Record::Accepted(diff("1"), Accepted { content: text.to_owned().into() }),
    ]
}

/// Returns the records of a client whose proposals the user accepted with these texts.
fn all_accepted(texts: &[&Text]) -> Vec<Record> {
    let session = SessionId::new();
    let mut records = vec![Record::Session(session, Client::default())];
    for (number, text) in texts.iter().enumerate() {
        let diff = diff(&number.to_string());
        records.push(Record::Opened(diff, session, format!("/{number}").into()));
        records.push(Record::Accepted(diff, Accepted { content: (*text).clone() }));
    }
    records
}

/// Returns the accepted text of each diff, if it was accepted.
fn accepted_texts(left: Left) -> Vec<Option<Text>> {
    let content = |diff: PendingDiff| Some(diff.decision?.accepted()?.content.clone());
    left.diffs.into_values().map(content).collect()
}

/// Returns the state that the next process takes over.
fn left(dir: &TempDir) -> Left {
    claim(dir, &config("/a", ALIVE)).left
}

/// Makes a rewrite necessary and impossible, as a full disk does after a failed append.
fn obstruct(dir: &TempDir, saving: &mut Saving) -> PathBuf {
    saving.file.open = None;
    let obstacle = file(dir).with_extension("jsonl.tmp");
    fs::create_dir(&obstacle).unwrap();
    obstacle
}

/// A stale decision would answer the next question about the file.
#[test]
fn a_text_is_gone_from_the_disk_once_its_end_can_not_be_saved() {
    let dir = TempDir::new().unwrap();
    let (token, mut saving) = run(&dir, &config("/a", ALIVE), 4001);
    assert!(take(&mut saving, accepted("the user’s text")));
    obstruct(&dir, &mut saving);
    assert!(!take(&mut saving, vec![Record::Settled(diff("1"))]));
    assert!(files(dir.path(), ".jsonl").is_empty());
    drop(saving);
    assert_eq!(left(&dir), Left::default());
    assert_ne!(next(&dir, &config("/a", ALIVE)).0, token);
}

#[test]
fn once_the_disk_takes_it_again_all_that_counts_is_saved() {
    let dir = TempDir::new().unwrap();
    let (token, mut saving) = run(&dir, &config("/a", ALIVE), 4001);
    assert!(take(&mut saving, accepted("the user’s text")));
    let obstacle = obstruct(&dir, &mut saving);
    let [first, second] = [SessionId::new(), SessionId::new()];
    let opened = Record::Opened(diff("2"), first, "/b".into());
    assert!(!take(
        &mut saving,
        vec![Record::Session(first, Client::default()), opened, Record::Settled(diff("1"))]
    ));
    fs::remove_dir(obstacle).unwrap();
    assert!(take(&mut saving, vec![Record::Session(second, Client::default())]));
    drop(saving);
    assert_eq!(next(&dir, &config("/a", ALIVE)).0, token);
    let left = left(&dir);
    assert_eq!(left.sessions.len(), 3);
    assert_eq!(left.diffs.into_keys().collect::<Vec<_>>(), [diff("2")]);
}

#[test]
fn in_a_folder_that_has_become_read_only_the_file_is_emptied() {
    if rustix::process::getuid().is_root() {
        eprintln!("skipped: root may write to any folder");
        return;
    }
    let dir = TempDir::new().unwrap();
    let (_, mut saving) = run(&dir, &config("/a", ALIVE), 4001);
    assert!(take(&mut saving, accepted("the user’s text")));
    let file = file(&dir);
    let folder = file.parent().unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o500)).unwrap();
    saving.file.open = None;
    assert!(!take(&mut saving, vec![Record::Settled(diff("1"))]));
    drop(saving);
    assert_eq!(fs::read_to_string(&file).unwrap(), "");
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(left(&dir), Left::default());
}

/// The next process would not read such a file, and so know nothing.
#[test]
fn of_more_than_is_read_the_longest_text_is_not_saved() {
    let dir = TempDir::new().unwrap();
    let (token, mut saving) = run(&dir, &config("/a", ALIVE), 4001);
    // The text is six times as long as JSON.
    let long = Text::from("\u{1}".repeat(45_000_000));
    let short = Text::from("the user’s text".to_owned());
    assert!(take(&mut saving, all_accepted(&[&long, &short])));
    assert!(take(&mut saving, vec![Record::Session(SessionId::new(), Client::default())]));
    drop(saving);
    let next = claim(&dir, &config("/a", ALIVE));
    assert_eq!(next.head.token.expose(), token);
    assert_eq!(next.left.sessions.len(), 2);
    assert_eq!(accepted_texts(next.left), [None, Some(short)]);
}

#[test]
fn the_log_says_once_that_nothing_can_be_saved_and_once_that_it_can_again() {
    let dir = TempDir::new().unwrap();
    let (_, mut saving) = run(&dir, &config("/a", ALIVE), 4001);
    let full = || Err(std::io::Error::other("full"));
    let lost = "WARN cannot save resume data, so a restart may disconnect CLIs: full";
    let again = "INFO resume data is saved again";
    logged();
    for (saved, said) in [
        (Ok(()), None),
        (full(), Some(lost)),
        (full(), None),
        (Ok(()), Some(again)),
        (Ok(()), None),
        (full(), Some(lost)),
    ] {
        saving.attempt(|_| saved);
        assert_eq!(logged(), Vec::from_iter(said));
    }
}

fn is_replaced(file: &fs::File) -> bool {
    file.metadata().unwrap().nlink() == 0
}

/// A client that reads nothing must not make the decisions of others expensive.
#[test]
fn a_delivered_text_is_erased_without_rewriting_the_file() {
    let dir = TempDir::new().unwrap();
    let (_, mut saving) = run(&dir, &config("/a", ALIVE), 4001);
    let unread = Text::from("unread".repeat(100_000));
    assert!(take(&mut saving, all_accepted(&[&unread])));
    let written = fs::File::open(file(&dir)).unwrap();
    for number in 1..=100 {
        let id = diff(&number.to_string());
        let opened = Record::Opened(id, SessionId::new(), "/a".into());
        let text = format!("the user’s text {number}").into();
        assert!(take(&mut saving, vec![opened, Record::Accepted(id, Accepted { content: text })]));
        assert!(fs::read_to_string(file(&dir)).unwrap().contains("the user’s text"));
        assert!(take(&mut saving, vec![Record::Settled(id)]));
        assert!(!fs::read_to_string(file(&dir)).unwrap().contains("the user’s text"));
    }
    assert!(!is_replaced(&written));
    drop(saving);
    assert_eq!(accepted_texts(left(&dir)), [Some(unread)]);
}

/// The end of a process can interrupt the erasure, which begins at the start of the line.
#[test]
fn a_text_that_is_erased_in_part_counts_for_nothing() {
    let dir = TempDir::new().unwrap();
    let (_, mut saving) = run(&dir, &config("/a", ALIVE), 4001);
    let mut records = accepted("the user’s text");
    assert!(take(&mut saving, records.split_off(0)));
    drop(saving);
    let content = fs::read_to_string(file(&dir)).unwrap();
    let line = content.find("{\"accepted\"").unwrap();
    let mut erased = content.into_bytes();
    erased[line..line + 10].fill(b' ');
    fs::write(file(&dir), erased).unwrap();
    assert_eq!(accepted_texts(left(&dir)), [None]);
}

/// Obsolete records stay in the file until it is rewritten.
#[test]
fn the_file_is_rewritten_once_it_has_doubled_and_grown_by_64_kb() {
    for written in [0, 200_000] {
        let dir = TempDir::new().unwrap();
        let (_, mut saving) = run(&dir, &config("/a", ALIVE), 4001);
        let stays = Record::Opened(diff("1"), SessionId::new(), "x".repeat(written).into());
        assert!(take(&mut saving, vec![stays]));
        assert!(saving.attempt(super::super::file::ResumeFile::write));
        let file_before = fs::File::open(file(&dir)).unwrap();
        let before = file_before.metadata().unwrap();
        let mut length = before.len();
        while !is_replaced(&file_before) {
            length = fs::metadata(file(&dir)).unwrap().len();
            let over = SessionId::new();
            let session = Record::Session(over, Client::default());
            assert!(take(&mut saving, vec![session, Record::Gone(over)]));
        }
        let grown = length - before.len();
        let expected = before.len().max(64 << 10);
        assert!((expected - 300..=expected).contains(&grown), "{grown} after {}", before.len());
        assert_eq!(fs::metadata(file(&dir)).unwrap().len(), before.len());
    }
}
