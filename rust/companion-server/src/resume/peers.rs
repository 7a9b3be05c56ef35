//! Finds other companions of this folder that have ended, to take their clients over.
//!
//! The lock of a slot decides which process takes it, and ends with its process, also by a kill. A
//! companion whose editor still runs may start again, so its slot stays for a while.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use companion_core::record::Left;
use companion_platform::{PrivateDir, Watch, is_process_alive, real_path};

use super::lines::{Address, Head, SharedHead};
use super::slots::{self, Slot};

/// The time for a running editor to start its companion again.
const RESTART_TIME: Duration = Duration::from_secs(5);

/// The most ports and tokens that a server takes over.
const MAX_ADOPTED: usize = 8;

/// The slots of this folder, of all editors.
pub(crate) struct Peers {
    dir: Arc<PrivateDir>,
    /// The beginning of their names.
    key: String,
    own: String,
    head: SharedHead,
    /// The slots whose companion has ended and whose editor ran, the time of the first look, and the
    /// process of the editor.
    ended: HashMap<String, (Instant, u32)>,
    /// The slots that were judged for good, until a companion uses them again.
    judged: HashSet<String>,
}

/// The result of a look at the peers. The largest value counts.
pub(crate) enum Sight {
    /// No other companion runs.
    Alone,
    /// One runs.
    Running,
    /// One has ended, and its editor may start it again.
    Ended,
    /// The clients of this one are free.
    Free(Box<Legacy>),
}

/// The state of a companion that has ended. No other process can take it while this value lives.
pub(crate) struct Legacy {
    slot: Slot,
    head: Head,
    pub(crate) left: Left,
}

impl Legacy {
    /// The ports and tokens that its clients know.
    pub(crate) fn addresses(&self) -> Vec<Address> {
        self.head.addresses()
    }

    /// Removes the file, once another file has all of it.
    pub(crate) fn remove(self) -> io::Result<()> {
        self.slot.clear()
    }

    /// Forgets the clients, which must not show their token again. The notes stay.
    pub(crate) fn forget_clients(self) -> io::Result<()> {
        self.slot.forget_clients(&self.head, self.left)
    }
}

impl Peers {
    pub(super) fn new(slot: &Slot, key: String, head: SharedHead) -> Self {
        let (dir, own) = (Arc::clone(&slot.dir), slot.name().to_owned());
        Self { dir, key, own, head, ended: HashMap::new(), judged: HashSet::new() }
    }

    /// Replaces the workspace of this server, from [`real_folders`]. Returns whether it has changed.
    pub(crate) fn set_workspace(&self, folders: Vec<PathBuf>) -> bool {
        let mut head = self.head.lock();
        let before = std::mem::replace(&mut head.workspace, folders);
        before != head.workspace
    }

    /// The head of this server's own file.
    pub(crate) fn head(&self) -> SharedHead {
        Arc::clone(&self.head)
    }

    /// Watches the locks of running peers. Linux reports that a process has closed its lock, however
    /// it has ended.
    pub(crate) fn watch(&self, changed: impl Fn() + Send + 'static) -> io::Result<Watch> {
        let key = self.key.clone();
        // Not the other locks: a look closes them, too.
        let is_peer = move |name: &OsStr| {
            let name = name.to_string_lossy();
            name.starts_with(&key) && name.ends_with(slots::RUNNING_ENDING)
        };
        let mut watch = Watch::start_for(is_peer, changed)?;
        watch.add(self.dir.path())?;
        Ok(watch)
    }

    /// Looks at the peers. Reads only files of companions that have just ended.
    pub(crate) fn look(&mut self) -> io::Result<Sight> {
        let mut sight = Sight::Alone;
        let files = self.dir.own_files()?;
        let slots = files.iter().filter_map(|file| slots::name_of(file));
        let slots: HashSet<_> =
            slots.filter(|slot| slot.starts_with(&self.key) && **slot != *self.own).collect();
        self.ended.retain(|slot, _| slots.contains(&**slot));
        self.judged.retain(|slot| slots.contains(&**slot));
        for slot in slots {
            if slots::is_locked(&self.dir, slot)? {
                self.ended.remove(slot);
                self.judged.remove(slot);
                if matches!(sight, Sight::Alone) {
                    sight = Sight::Running;
                }
            } else if !self.judged.contains(slot) && slots::is_fresh(&self.dir, slot) {
                match self.judge(slot) {
                    Some(Sight::Ended) => sight = Sight::Ended,
                    judged => {
                        self.judged.insert(slot.to_owned());
                        if let Some(free) = judged {
                            return Ok(free);
                        }
                    }
                }
            }
        }
        Ok(sight)
    }

    /// Looks at a slot that no process uses. `None` if its clients cannot go on with this companion.
    fn judge(&mut self, slot: &str) -> Option<Sight> {
        // The file may be large, so it is not read again until the editor has had its time.
        if self.may_restart(slot) {
            return Some(Sight::Ended);
        }
        let (taken, head, left) = match slots::take(&self.dir, slot) {
            Ok(taken) => taken?,
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => return Some(Sight::Ended),
            Err(error) => {
                log::warn!("ignoring resume data of another companion: {error}");
                return None;
            }
        };
        if !self.may_adopt(&head, &left) {
            return None;
        }
        self.ended.entry(slot.to_owned()).or_insert_with(|| (Instant::now(), head.ide_pid));
        if self.may_restart(slot) {
            return Some(Sight::Ended);
        }
        Some(Sight::Free(Box::new(Legacy { slot: taken, head, left })))
    }

    /// Whether the editor of a companion that has ended may start it again.
    fn may_restart(&self, slot: &str) -> bool {
        self.ended.get(slot).is_some_and(|(since, editor)| {
            since.elapsed() < RESTART_TIME && is_process_alive(*editor)
        })
    }

    /// Whether clients of that companion can go on with this one: they review edits likewise, in the
    /// same folders.
    fn may_adopt(&self, of: &Head, left: &Left) -> bool {
        let own = self.head.lock();
        of.port != 0
            && !left.sessions.is_empty()
            && of.review == own.review
            && !of.workspace.is_empty()
            && of.workspace == own.workspace
            && own.adopted.len() + of.addresses().len() <= MAX_ADOPTED
    }
}

/// The roots of a workspace without links, sorted. Blocks for the disk.
pub(crate) fn real_folders(roots: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders: Vec<_> = roots.iter().map(|root| real_path(root)).collect();
    folders.sort();
    folders
}
