//! Chooses the resume file of this server.
//!
//! No two processes use the same file, and no file outlives its use. Several companions may serve
//! the same folder, for example two Neovims. Each has its own slot, and takes the same slot again
//! after a restart.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use companion_core::record::Left;
use companion_platform::PrivateDir;
use sha2::{Digest, Sha256};

use super::lines::{self, Head};
use crate::clock::now_ms;

/// The time after its last record for which a server can be resumed: twice `Limits::retry`. Its
/// clients return once after `retry`. With a longer time they could show their token to another
/// program that has taken the port.
const RESUME_WINDOW: Duration = Duration::from_secs(40);
/// The most companions of one workspace and editor that can be resumed.
const MAX_SLOTS: usize = 16;
/// The largest file that is read. It holds the texts of undelivered decisions.
pub(super) const MAX_FILE: usize = 256 << 20;
/// The time after its last record for which the notes of a server are kept, if no other server of its
/// workspace and editor takes them.
const MAX_NOTES_AGE: Duration = Duration::from_hours(30 * 24);
/// The most that a disk's clock may be ahead.
const MAX_CLOCK_ADVANCE: Duration = Duration::from_mins(1);
/// The owner of a slot whose file does not say it.
const NO_PROCESS: u32 = u32::MAX;
/// Locked while a slot is chosen and others are swept, which takes milliseconds.
const CHOICE_LOCK: &str = "choosing.lock";
const FILE_ENDING: &str = ".jsonl";
/// The ending of the lock that a server releases when it begins to end.
pub(super) const RUNNING_ENDING: &str = ".running";

/// A slot that this process owns while this value lives.
pub(super) struct Slot {
    pub(super) dir: Arc<PrivateDir>,
    file: String,
    _lock: File,
}

impl Slot {
    /// The name of the slot.
    pub(super) fn name(&self) -> &str {
        name_of(&self.file).expect("it has the ending")
    }

    /// Leaves only the notes of a server that has ended.
    pub(super) fn forget_clients(&self, head: &Head, left: Left) -> io::Result<()> {
        let content = lines::write(&head.without_clients(), &left.without_clients());
        self.write(&content).map(drop)
    }

    /// Replaces the file, and returns it for writing.
    pub(super) fn write(&self, content: &[u8]) -> io::Result<File> {
        self.dir.write(&self.file, content)?;
        self.dir.open_to_write(&self.file)
    }

    /// Removes the state for the next process. In a read-only folder the file can't be removed, but
    /// it can be emptied.
    pub(super) fn clear(&self) -> io::Result<()> {
        self.dir.remove(&self.file).or_else(|error| {
            self.dir.empty(&self.file).map_err(|_| {
                let message = format!("cannot delete outdated resume data: {error}");
                io::Error::new(error.kind(), message)
            })
        })
    }
}

/// A slot, with the state that the last process left in it, and its age, if the state is usable.
pub(super) struct Claim {
    pub(super) slot: Slot,
    /// Locked until the server begins to end.
    pub(super) running: File,
    pub(super) last: Option<(Head, Left, Duration)>,
    /// The notes of other servers of the workspace and editor, which have ended long ago, and those of
    /// a file of the last process that is unusable.
    pub(super) adopted: Adopted,
}

/// Notes of other slots, whose files are locked until they are removed.
#[derive(Default)]
pub(super) struct Adopted {
    pub(super) left: Left,
    files: Vec<(Vec<String>, File)>,
}

impl Adopted {
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.left.notes.is_empty()
    }

    /// Removes the files, once the notes are in this server's own slot.
    pub(super) fn remove(self, slot: &Slot) -> io::Result<()> {
        let mut files = self.files.iter().flat_map(|(files, _lock)| files);
        files.try_for_each(|file| slot.dir.remove(file))
    }
}

/// How well a slot fits. The smallest value is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The slot belongs to an ended server of this editor.
    Same,
    /// The slot's editor has ended. Contains the age of the file.
    Left(Duration),
    /// The slot is empty, or its content is unusable.
    Empty,
}

/// Returns the beginning of the names of a folder's files. Only the first root counts, because
/// further roots may change. `root` has no links.
pub(super) fn folder_key(root: Option<&Path>) -> String {
    let root = root.map(|root| root.to_string_lossy()).unwrap_or_default();
    short_hash(&root)
}

/// Returns the name of the files of a workspace and editor.
pub(super) fn key(ide: &str, folder_key: &str) -> String {
    format!("{folder_key}-{}", short_hash(ide))
}

fn short_hash(text: &str) -> String {
    let hash = Sha256::digest(text);
    let number = u128::from_be_bytes(hash[..16].try_into().expect("it has 32 bytes"));
    format!("{number:032x}")
}

/// Takes a slot: this editor's, or else one whose editor has ended, or else an empty one. A running
/// editor may return to its own slot. Removes files that no server will resume. If a fitting slot
/// belongs to a server that is ending, waits up to `limit`.
pub(super) fn claim(
    dir: PrivateDir,
    key: &str,
    ide_pid: u32,
    limit: Duration,
) -> io::Result<Claim> {
    let begun = Instant::now();
    let mut is_logged = false;
    let (name, lock, running, fit, mut adopted) = loop {
        let in_time = begun.elapsed() < limit;
        // A sweep removes unused locks, so no other process may be about to take one.
        let choosing = dir.try_lock(CHOICE_LOCK)?;
        let chosen = match &choosing {
            Some(_) => choose(&dir, key, ide_pid, in_time)?,
            None => None,
        };
        match chosen {
            Some((name, lock, running, fit)) => {
                let adopted = sweep(&dir, key);
                break (name, lock, running, fit, adopted);
            }
            None if in_time => {}
            None => {
                let message = "the files of all companions are locked";
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, message));
            }
        }
        if !std::mem::replace(&mut is_logged, true) {
            log::info!("the last companion is ending; waiting for its end");
        }
        drop(choosing);
        std::thread::sleep(Duration::from_millis(10));
    };
    // From now on no other process writes to it.
    let last = if fit == Fit::Empty { None } else { usable(read(&dir, &name, lines::read)) };
    let mut last = last.map(|((head, left), age)| (head, left, age));
    if let Some((head, ..)) = &last
        && end_takeovers(&dir, &name, head).unwrap_or_else(|error| {
            log::warn!("could not look for interrupted takeovers: {error}");
            false
        })
    {
        last = None;
    } else if last.is_none()
        && let Ok(Some((notes, _))) = read(&dir, &name, |content| Some(lines::read_notes(content)))
    {
        adopted.left.adopt_notes(&notes);
    }
    let slot = Slot { dir: Arc::new(dir), file: file_name(&name), _lock: lock };
    Ok(Claim { slot, running, last, adopted })
}

/// Ends the takeovers in which a process was killed before it removed the file of another one: its own file
/// has all of that. Returns whether another process has taken over the clients and notes of this slot.
fn end_takeovers(dir: &PrivateDir, slot: &str, head: &Head) -> io::Result<bool> {
    let folder = |slot: &str| slot.split('-').next().map(str::to_owned);
    let is_peer = |other: &&str| **other != *slot && folder(other) == folder(slot);
    let mut is_taken = false;
    for file in dir.own_files()? {
        let Some(other) = name_of(&file).filter(is_peer) else { continue };
        let Some((of_other, _)) = usable(read(dir, other, lines::read_head)) else { continue };
        is_taken |= of_other.has_adopted(head);
        if head.has_adopted(&of_other)
            && let Some(_lock) = dir.try_lock(&lock_name(other))?
        {
            dir.remove(&file)?;
        }
    }
    Ok(is_taken)
}

/// Returns the name of the best slot, and its locks. Returns `None` if its server is ending.
fn choose(
    dir: &PrivateDir,
    key: &str,
    ide_pid: u32,
    wait: bool,
) -> io::Result<Option<(String, File, File, Fit)>> {
    let mut slots = Vec::new();
    for number in 0..MAX_SLOTS {
        let name = format!("{key}-{number}");
        // Reading the texts may take seconds.
        let fit = match usable(read(dir, &name, lines::read_head)) {
            None => Fit::Empty,
            Some((head, _)) if head.ide_pid == ide_pid => Fit::Same,
            Some((head, _)) if head.is_editor_alive() => continue,
            Some((_, age)) => Fit::Left(age),
        };
        slots.push((fit, number, name));
    }
    slots.sort_unstable();
    for (fit, _, name) in slots {
        let lock = dir.try_lock(&lock_name(&name))?;
        let Some(running) = dir.try_lock(&format!("{name}{RUNNING_ENDING}"))? else { continue };
        match lock {
            Some(lock) => return Ok(Some((name, lock, running, fit))),
            None if fit != Fit::Empty && wait => return Ok(None),
            None => {}
        }
    }
    let message = format!("{MAX_SLOTS} companions of this folder run or may come back");
    Err(io::Error::new(io::ErrorKind::ResourceBusy, message))
}

/// Cleans up the files whose clients have gone and that no process uses: removes them, unless they
/// have notes that wait. Returns those of the slots of `key`, which this server takes over.
fn sweep(dir: &PrivateDir, key: &str) -> Adopted {
    let is_old = |file: &str| dir.written(file).is_ok_and(|at| is_over(age(at)));
    let mut adopted = Adopted::default();
    for (slot, files, lock) in unused(dir, is_old) {
        let is_of_key = slot.rsplit_once('-').is_some_and(|(of, _)| of == key);
        let swept = match notes(dir, &slot) {
            // It can't be read now.
            Err(error) => Err(error),
            Ok(Some((head, notes))) if is_of_key && !head.is_editor_alive() => {
                adopted.left.adopt_notes(&notes);
                adopted.files.push((files, lock));
                Ok(())
            }
            Ok(Some((_, notes))) => forget_clients(dir, &slot, &notes),
            Ok(None) => files.iter().try_for_each(|file| dir.remove(file)),
        };
        if let Err(error) = swept {
            log::warn!("cannot remove old resume data: {error}");
        }
    }
    adopted
}

/// The notes of a slot that still count, and its owner; `None` if there are none.
fn notes(dir: &PrivateDir, slot: &str) -> io::Result<Option<(Head, Left)>> {
    let whole_or_notes = |content: &[u8]| {
        let of_nobody = || (Head::of_ended(NO_PROCESS, true), lines::read_notes(content));
        Some(lines::read(content).unwrap_or_else(of_nobody))
    };
    let Some(((head, mut left), age)) = read(dir, slot, whole_or_notes)? else { return Ok(None) };
    if age > MAX_NOTES_AGE && age != Duration::MAX {
        return Ok(None);
    }
    left.drop_old_notes(now_ms());
    Ok((!left.notes.is_empty()).then(|| (head, left.without_clients())))
}

/// Leaves only the notes in the file of a slot. Writes it only if there is anything else, because the
/// time of the last write is its age.
fn forget_clients(dir: &PrivateDir, slot: &str, notes: &Left) -> io::Result<()> {
    let Ok(Some(((head, left), _))) = read(dir, slot, lines::read) else { return Ok(()) };
    if left == *notes {
        return Ok(());
    }
    let head = head.without_clients();
    dir.write(&file_name(slot), &lines::write(&head, notes))
}

/// Removes the files of ended servers, or only looks for them with `dry_run`. Returns whether there
/// are any.
pub(super) fn remove_ended(dir: &PrivateDir, dry_run: bool) -> io::Result<bool> {
    let Some(choosing) = dir.try_lock(CHOICE_LOCK)? else { return Ok(false) };
    let unused = unused(dir, |_| true);
    if dry_run || unused.is_empty() {
        return Ok(!unused.is_empty());
    }
    unused.iter().flat_map(|(_, files, _)| files).try_for_each(|file| dir.remove(file))?;
    drop((unused, choosing));
    if dir.own_files()? == [CHOICE_LOCK] {
        dir.remove(CHOICE_LOCK)?;
    }
    Ok(true)
}

/// Returns the name and the files of each unlocked slot, and its lock, if `fits` accepts all its files.
fn unused(dir: &PrivateDir, fits: impl Fn(&str) -> bool) -> Vec<(String, Vec<String>, File)> {
    let mut slots = BTreeMap::<String, Vec<String>>::new();
    for file in dir.own_files().unwrap_or_default() {
        // The unfinished file of a killed process has the slot's name, too.
        let name = file.split('.').next().unwrap_or_default().to_owned();
        slots.entry(name).or_default().push(file);
    }
    let unused = slots.into_iter().filter(|(_, files)| files.iter().all(|file| fits(file)));
    let mut locked = Vec::new();
    for (name, files) in unused {
        if let Ok(Some(lock)) = dir.try_lock(&lock_name(&name)) {
            locked.push((name, files, lock));
        }
    }
    locked
}

/// The slot of a resume file; `None` for any other file.
pub(super) fn name_of(file: &str) -> Option<&str> {
    file.strip_suffix(FILE_ENDING)
}

/// Whether the server of a slot lives or has just ended.
pub(super) fn is_fresh(dir: &PrivateDir, slot: &str) -> bool {
    dir.written(&file_name(slot)).is_ok_and(|written| !is_over(age(written)))
}

/// Whether a process uses a slot.
pub(super) fn is_locked(dir: &PrivateDir, slot: &str) -> io::Result<bool> {
    Ok(dir.try_lock(&lock_name(slot))?.is_none())
}

/// Takes the slot of another server that has ended, and reads its file. `None` if the slot is empty.
///
/// # Errors
///
/// [`io::ErrorKind::ResourceBusy`] if another process looks at the slot, and any other if the file is
/// unusable.
pub(super) fn take(dir: &Arc<PrivateDir>, slot: &str) -> io::Result<Option<(Slot, Head, Left)>> {
    // A sweep removes unused locks.
    let busy = || io::Error::from(io::ErrorKind::ResourceBusy);
    let _choosing = dir.try_lock(CHOICE_LOCK)?.ok_or_else(busy)?;
    let lock = dir.try_lock(&lock_name(slot))?.ok_or_else(busy)?;
    let Some(((head, left), _)) = read(dir, slot, lines::read)? else { return Ok(None) };
    Ok(Some((Slot { dir: Arc::clone(dir), file: file_name(slot), _lock: lock }, head, left)))
}

fn lock_name(slot: &str) -> String {
    format!("{slot}.lock")
}

fn file_name(slot: &str) -> String {
    format!("{slot}{FILE_ENDING}")
}

/// Logs a warning if a file is unusable.
fn usable<T>(last: io::Result<Option<T>>) -> Option<T> {
    last.unwrap_or_else(|error| {
        log::warn!("ignoring resume data: {error}");
        None
    })
}

/// Reads a slot's file by `parse`, and its age. Returns `None` if there is no file.
fn read<T>(
    dir: &PrivateDir,
    name: &str,
    parse: impl FnOnce(&[u8]) -> Option<T>,
) -> io::Result<Option<(T, Duration)>> {
    let file = file_name(name);
    let Some((content, written)) = dir.read(&file, MAX_FILE as u64)? else { return Ok(None) };
    if content.is_empty() {
        return Ok(None);
    }
    // The error of serde could quote the content.
    let said = parse(&content).ok_or_else(|| {
        let message = format!("{} is damaged", dir.path().join(file).display());
        io::Error::new(io::ErrorKind::InvalidData, message)
    })?;
    Ok(Some((said, age(written))))
}

/// Returns whether a file of this age is too old to be resumed.
pub(super) fn is_over(age: Duration) -> bool {
    age > RESUME_WINDOW
}

/// Returns the age of a file. A time in the future does not count as new, or the file would stay
/// new for years. Small differences between the clocks of the disk and of this machine are allowed.
fn age(written: SystemTime) -> Duration {
    match SystemTime::now().duration_since(written) {
        Ok(age) => age,
        Err(ahead) if ahead.duration() <= MAX_CLOCK_ADVANCE => Duration::ZERO,
        Err(_) => Duration::MAX,
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::tests::logged;

    /// A process that runs as long as the tests do.
    const ALIVE: u32 = 1;
    const DEAD: u32 = 0x3fff_fffe;

    fn open(dir: &TempDir) -> PrivateDir {
        PrivateDir::open(dir.path(), &["slots"]).unwrap()
    }

    fn take(dir: &TempDir, limit: Duration) -> io::Result<Slot> {
        claim(open(dir), "key", ALIVE, limit).map(|claim| claim.slot)
    }

    /// Leaves a file in a slot, like the server of that editor.
    fn leave(slot: &Slot, ide_pid: u32) {
        let mut lines = Vec::new();
        lines::write_line(&mut lines, &Head::new(ide_pid, true));
        slot.write(&lines).unwrap();
    }

    #[test]
    fn a_server_that_is_ending_is_waited_for_and_that_is_said_once() {
        for editor in [ALIVE, DEAD] {
            let dir = TempDir::new().unwrap();
            let ending = take(&dir, Duration::ZERO).unwrap();
            leave(&ending, editor);
            logged();
            let next = take(&dir, Duration::from_millis(200)).unwrap();
            assert_ne!(next.file, ending.file);
            assert_eq!(logged(), ["INFO the last companion is ending; waiting for its end"]);
            assert_ne!(take(&dir, Duration::ZERO).unwrap().file, ending.file);
            assert!(logged().is_empty(), "there is no time to wait");
        }
    }

    #[test]
    fn a_server_that_runs_is_not_waited_for() {
        for editor in [ALIVE, DEAD] {
            let dir = TempDir::new().unwrap();
            let claim = claim(open(&dir), "key", ALIVE, Duration::ZERO).unwrap();
            leave(&claim.slot, editor);
            logged();
            let next = take(&dir, Duration::from_mins(1)).unwrap();
            assert_ne!(next.file, claim.slot.file);
            assert!(logged().is_empty());
        }
    }

    #[test]
    fn a_slot_that_another_process_is_about_to_use_is_not_waited_for() {
        let dir = TempDir::new().unwrap();
        let another = take(&dir, Duration::ZERO).unwrap();
        logged();
        let ours = take(&dir, Duration::from_mins(1)).unwrap();
        assert_ne!(ours.file, another.file);
        assert!(logged().is_empty());
    }

    #[test]
    fn whoever_can_not_choose_in_time_has_no_slot() {
        let dir = TempDir::new().unwrap();
        let _choosing = open(&dir).try_lock(CHOICE_LOCK).unwrap().unwrap();
        let error = take(&dir, Duration::ZERO).map(|slot| slot.file).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
    }

    #[test]
    fn what_was_left_can_be_resumed_for_twice_the_time_of_a_retry() {
        let retry = crate::config::Limits::default().retry;
        assert_eq!([2 * retry, 2 * retry + Duration::from_nanos(1)].map(is_over), [false, true]);
    }
}
