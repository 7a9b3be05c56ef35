//! What is left where the disk takes nothing more, or not what it should.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;

use super::{ALIVE, config, file, files, next, run};
use crate::diffs::{Batch, DiffId, Left, Record};
use crate::resume::{Resume, Saving};
use crate::session::{ClientTraits, SessionId};
use crate::testing::logged;

fn take(saving: &mut Saving, records: Vec<Record>) -> bool {
    saving.tell(|file| file.take(Batch { records, ends: false }))
}

fn diff(number: &str) -> DiffId {
    DiffId::parse(number).unwrap()
}

/// A client has come and asked, and the user has accepted.
fn accepted(text: &str) -> Vec<Record> {
    let session = SessionId::new();
    let text = Arc::new(text.to_owned());
    let opened = Record::Opened(diff("1"), session, "/a".into());
    vec![
        Record::Session(session, ClientTraits::default()),
        opened,
        Record::Accepted(diff("1"), text),
    ]
}

/// A client has asked about so many files, and the user has accepted each with such a text.
fn all_accepted(texts: &[&Arc<String>]) -> Vec<Record> {
    let session = SessionId::new();
    let mut records = vec![Record::Session(session, ClientTraits::default())];
    for (number, text) in texts.iter().enumerate() {
        let diff = diff(&number.to_string());
        records.push(Record::Opened(diff, session, format!("/{number}").into()));
        records.push(Record::Accepted(diff, Arc::clone(text)));
    }
    records
}

/// What the next process takes up.
fn left(dir: &TempDir) -> Left {
    Resume::try_claim(Some(dir.path().to_owned()), &config("/a", ALIVE)).unwrap().left
}

/// Something is in the way of whatever is written anew, as a full disk would be.
fn obstruct(dir: &TempDir) -> PathBuf {
    let obstacle = file(dir).with_extension("jsonl.tmp");
    fs::create_dir(&obstacle).unwrap();
    obstacle
}

/// It would answer the next question about the file.
#[test]
fn a_text_is_gone_from_the_disk_once_its_end_can_not_be_saved() {
    let dir = TempDir::new().unwrap();
    let (token, mut saving) = run(&dir, &config("/a", ALIVE), 4001);
    assert!(take(&mut saving, accepted("the user’s text")));
    obstruct(&dir);
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
    let obstacle = obstruct(&dir);
    let [first, second] = [SessionId::new(), SessionId::new()];
    let opened = Record::Opened(diff("2"), first, "/b".into());
    assert!(!take(
        &mut saving,
        vec![Record::Session(first, ClientTraits::default()), opened, Record::Settled(diff("1"))]
    ));
    fs::remove_dir(obstacle).unwrap();
    assert!(take(&mut saving, vec![Record::Session(second, ClientTraits::default())]));
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
    assert!(!take(&mut saving, vec![Record::Settled(diff("1"))]));
    drop(saving);
    assert_eq!(fs::read_to_string(&file).unwrap(), "");
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(left(&dir), Left::default());
}

/// The next process would not read it, and know nothing.
#[test]
fn of_more_than_is_read_the_longest_text_is_not_saved() {
    let dir = TempDir::new().unwrap();
    let (token, mut saving) = run(&dir, &config("/a", ALIVE), 4001);
    // As JSON it is six times as long.
    let long = Arc::new("\u{1}".repeat(45_000_000));
    let short = Arc::new("the user’s text".to_owned());
    assert!(take(&mut saving, all_accepted(&[&long, &short])));
    assert!(take(&mut saving, vec![Record::Session(SessionId::new(), ClientTraits::default())]));
    drop(saving);
    let next = Resume::try_claim(Some(dir.path().to_owned()), &config("/a", ALIVE)).unwrap();
    assert_eq!(next.head.token.expose(), token);
    assert_eq!(next.left.sessions.len(), 2);
    let texts: Vec<_> = next.left.diffs.into_values().map(|diff| diff.accepted).collect();
    assert_eq!(texts, [None, Some(short)]);
}

#[test]
fn the_log_says_once_that_nothing_can_be_saved_and_once_that_it_can_again() {
    let dir = TempDir::new().unwrap();
    let (_, mut saving) = run(&dir, &config("/a", ALIVE), 4001);
    let full = || Err(std::io::Error::other("full"));
    let lost = "WARN could not save what a restart needs; CLIs may lose it: full";
    let again = "INFO what a restart needs is saved again";
    logged();
    for (saved, said) in [
        (Ok(()), None),
        (full(), Some(lost)),
        (full(), None),
        (Ok(()), Some(again)),
        (Ok(()), None),
        (full(), Some(lost)),
    ] {
        saving.tell(|_| saved);
        assert_eq!(logged(), Vec::from_iter(said));
    }
}

/// What is over stays in it until then.
#[test]
fn the_file_is_written_anew_once_more_than_64_kb_were_appended() {
    for (bytes, is_anew) in [(64 << 10, false), ((64 << 10) + 1, true)] {
        let dir = TempDir::new().unwrap();
        let (_, mut saving) = run(&dir, &config("/a", ALIVE), 4001);
        let [over, stays] = [SessionId::new(), SessionId::new()];
        let before = fs::metadata(file(&dir)).unwrap().len();
        assert!(take(
            &mut saving,
            vec![Record::Session(over, ClientTraits::default()), Record::Gone(over)]
        ));
        let opened = |path: &str| vec![Record::Opened(diff("1"), stays, path.into())];
        let line = serde_json::to_string(&opened("")[0]).unwrap() + "\n";
        let appended = fs::metadata(file(&dir)).unwrap().len() - before;
        let path = "x".repeat(bytes - usize::try_from(appended).unwrap() - line.len());
        assert!(take(&mut saving, opened(&path)));
        let content = fs::read_to_string(file(&dir)).unwrap();
        assert_eq!(!content.contains("gone"), is_anew, "{bytes} bytes");
    }
}
