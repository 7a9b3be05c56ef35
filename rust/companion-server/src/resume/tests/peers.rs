//! Tests which companion takes over the clients of another one that has ended.

use std::fs;
use std::time::{Duration, SystemTime};

use companion_core::notes::NoteId;
use companion_core::record::{Left, Record};
use tempfile::TempDir;

use super::{ALIVE, DEAD, begin_with_peers, claim, comment, config, files, reason, take};
use crate::clock::now_ms;
use crate::config::Config;
use crate::resume::{Address, Peers, Saving, Sight};
use crate::session::{Client, SessionId};
use crate::tests::logged;

fn config_of(editor: &str) -> Config {
    let mut config = config("/a", DEAD);
    editor.clone_into(&mut config.settings.ide_name);
    config
}

/// Starts a process of an editor. Dropping the returned value kills it.
fn start(dir: &TempDir, editor: &str, change: impl FnOnce(&mut Config)) -> (Saving, Peers) {
    let mut config = config_of(editor);
    change(&mut config);
    begin_with_peers(claim(dir, &config), 4001)
}

fn connect(saving: &mut Saving) {
    assert!(take(saving, vec![Record::Session(SessionId::new(), Client::default())]));
}

#[test]
fn one_of_several_takes_what_another_one_has_left() {
    let dir = TempDir::new().unwrap();
    let (_second, mut seconds) = start(&dir, "second", |_| {});
    let (_third, mut thirds) = start(&dir, "third", |_| {});
    let (mut first, _) = start(&dir, "first", |_| {});
    connect(&mut first);
    assert!(matches!(seconds.look().unwrap(), Sight::Running), "it lives");
    drop(first);
    let Sight::Free(legacy) = seconds.look().unwrap() else { panic!("it has ended") };
    assert_eq!((legacy.left.sessions.len(), legacy.addresses()[0].port), (1, 4001));
    assert!(matches!(thirds.look().unwrap(), Sight::Running), "the second process has the lock");
    legacy.remove().unwrap();
    assert!(matches!(thirds.look().unwrap(), Sight::Running), "nothing is left");
}

#[test]
fn a_companion_takes_only_clients_that_find_everything_as_before() {
    type Change = fn(&mut Config);
    let same: Change = |_| {};
    let differences: [(&str, Change, bool); 6] = [
        ("nothing", same, true),
        ("its editor runs", |config| config.settings.ide_pid = ALIVE, false),
        ("it reviews no edits", |config| config.settings.review = false, false),
        ("it has more folders", |config| config.settings.workspace.push("/b".into()), false),
        ("it has another folder", |config| config.settings.workspace = vec!["/b".into()], false),
        ("its port was chosen", |config| config.settings.port = 4001, false),
    ];
    for (what, change, expected) in differences {
        let dir = TempDir::new().unwrap();
        let (_second, mut peers) = start(&dir, "second", same);
        let (mut first, _) = start(&dir, "first", change);
        connect(&mut first);
        drop(first);
        let is_free = matches!(peers.look().unwrap(), Sight::Free(_));
        assert_eq!(is_free, expected, "{what}");
    }
}

#[test]
fn what_nobody_waits_for_is_not_taken() {
    let dir = TempDir::new().unwrap();
    let (_second, mut peers) = start(&dir, "second", |_| {});
    let (mut first, _) = start(&dir, "first", |_| {});
    let first_file = || {
        let all = files(dir.path(), ".jsonl").into_iter();
        all.max_by_key(|file| fs::metadata(file).unwrap().len()).unwrap()
    };
    connect(&mut first);
    drop(first);
    let file = fs::File::options().write(true).open(first_file()).unwrap();
    for (age, expected) in [(41, false), (39, true)] {
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        assert_eq!(matches!(peers.look().unwrap(), Sight::Free(_)), expected, "{age} s");
    }

    let dir = TempDir::new().unwrap();
    let (_second, mut peers) = start(&dir, "second", |_| {});
    drop(start(&dir, "first", |_| {}));
    assert!(matches!(peers.look().unwrap(), Sight::Alone), "it had no clients");

    let dir = TempDir::new().unwrap();
    let (_second, mut peers) = start(&dir, "second", |_| {});
    let (first, mut firsts) = start(&dir, "first", |_| {});
    drop(first);
    for file in files(dir.path(), ".jsonl") {
        fs::write(file, "").unwrap();
    }
    logged();
    assert!(matches!(peers.look().unwrap(), Sight::Alone), "its file is empty");
    assert!(matches!(firsts.look().unwrap(), Sight::Running), "the second one runs");
    assert!(logged().is_empty());
}

#[test]
fn a_file_is_not_read_again_while_its_editor_may_start_its_companion() {
    let dir = TempDir::new().unwrap();
    let (second, mut peers) = start(&dir, "second", |_| {});
    let of_second = files(dir.path(), ".jsonl");
    let (mut first, _) = start(&dir, "first", |config| config.settings.ide_pid = ALIVE);
    connect(&mut first);
    drop(first);
    assert!(matches!(peers.look().unwrap(), Sight::Ended));
    for file in files(dir.path(), ".jsonl") {
        if !of_second.contains(&file) {
            fs::write(file, "damaged").unwrap();
        }
    }
    assert!(matches!(peers.look().unwrap(), Sight::Ended), "it has not read the file");
    drop(second);
}

/// A companion was killed after it had saved what it took over, and before it removed the other file.
#[test]
fn after_an_interrupted_takeover_only_one_companion_has_the_notes() {
    for is_taker_first in [true, false] {
        let dir = TempDir::new().unwrap();
        let claim = |editor: &str| claim(&dir, &config_of(editor));
        let begin = |editor: &str, adopted: Vec<Address>| {
            let mut last = claim(editor);
            last.head.adopted = adopted;
            let token = last.head.token.clone();
            let (mut saving, _) = begin_with_peers(last, 4001);
            assert!(take(&mut saving, vec![Record::Note(NoteId(1), reason(now_ms()))]));
            Address { port: 4001, token }
        };
        let first = begin("first", Vec::new());
        begin("taker", vec![first]);
        let count = |editor: &str| claim(editor).left.notes.len();
        let counts = if is_taker_first {
            [count("taker"), count("first")]
        } else {
            let first = count("first");
            [count("taker"), first]
        };
        assert_eq!(counts, [1, 0], "{is_taker_first}");
    }
}

#[test]
fn notes_that_were_saved_before_their_old_file_was_removed_are_taken_once() {
    let mut left = Left::default();
    let mut other = Left::default();
    for (number, note) in [reason(1), comment("1", "one")].into_iter().enumerate() {
        left.apply(Record::Note(NoteId(number as u64), note.clone()));
        other.apply(Record::Note(NoteId(number as u64 + 7), note));
    }
    other.apply(Record::Note(NoteId(9), comment("2", "two")));
    left.adopt_notes(&other);
    let texts = left.notes.values().map(|note| format!("{note:?}"));
    assert_eq!((left.notes.len(), texts.filter(|text| text.contains("two")).count()), (3, 1));
}
