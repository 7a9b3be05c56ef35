//! Counts the bytes of texts that are held, and compares texts that are not kept.

use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use foldhash::quality::{FixedState, RandomState};
use memchr::memchr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The final text of a proposal. Clones share it.
///
/// ```
/// use companion_core::text::HeldBytes;
///
/// let held = HeldBytes::default();
/// let text = held.hold("12345".to_owned());
/// let clone = text.clone();
/// assert_eq!(held.bytes(), 5, "the clone takes no further memory");
/// drop((text, clone));
/// assert_eq!(held.bytes(), 0);
/// ```
#[derive(Clone, Default)]
pub struct Text(Arc<Held>);

#[derive(Default)]
struct Held {
    text: String,
    _share: Option<Share>,
}

/// Counts the bytes that are held. Any thread may use it. Clones share the count.
#[derive(Clone, Debug, Default)]
pub struct HeldBytes(Arc<AtomicUsize>);

/// A share of [`HeldBytes`]. It counts until it is dropped.
#[derive(Debug)]
pub struct Share {
    bytes: usize,
    all: HeldBytes,
}

impl HeldBytes {
    /// Counts some bytes.
    pub fn add(&self, bytes: usize) -> Share {
        self.0.fetch_add(bytes, Ordering::Relaxed);
        Share { bytes, all: self.clone() }
    }

    /// Counts `text` until its last clone is dropped.
    pub fn hold(&self, text: String) -> Text {
        let share = Some(self.add(text.len()));
        Text(Arc::new(Held { text, _share: share }))
    }

    /// All bytes.
    pub fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.all.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The digest of a text, to compare it with another text of the same process.
///
/// So a companion compares long texts without keeping them:
///
/// ```
/// use companion_core::text::Digest;
///
/// let before = Digest::of("let x = 1;");
/// assert!(before.is_of("let x = 1;") && !before.is_of("let x = 2;"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest {
    /// Bytes.
    length: usize,
    hash: u64,
}

/// The key of all digests. It is random and no peer learns a digest, so nobody can craft a text that
/// collides with another one. This hash is several times as fast as the standard one, which took a fifth
/// of the time of a large proposal.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::default);

impl Digest {
    /// Computes the digest of a text.
    pub fn of(text: &str) -> Self {
        Self { length: text.len(), hash: KEY.hash_one(text) }
    }

    /// The length of the text, in bytes.
    pub fn len(self) -> usize {
        self.length
    }

    /// Whether the text is empty.
    pub fn is_empty(self) -> bool {
        self.length == 0
    }

    /// Whether this is the digest of `text`.
    pub fn is_of(self, text: &str) -> bool {
        text.len() == self.length && Self::of(text) == self
    }
}

/// The hash of a text, to compare it with a text of a later process. The key is fixed, so it is only
/// for texts of the user, who gains nothing by a collision. Another version of this program may compute
/// another hash; then equal texts count as different.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Computes the hash of a text.
    pub fn of(text: &str) -> Self {
        Self(FixedState::with_seed(0).hash_one(text))
    }
}

/// The byte order mark.
pub const BOM: char = '\u{feff}';

/// Returns a text without a byte order mark, and with `\n` as its only line ending. Clients may write a text with the
/// line endings of its file.
pub fn plain(text: &str) -> Cow<'_, str> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    // Each proposal passes here. `str::contains` takes a twentieth of the time of a large one.
    if memchr(b'\r', text.as_bytes()).is_some() {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns the digest of a text, whatever its client makes of line endings: of [`plain`], without the end of
/// the last line. Gemini CLI's tool for edits keeps that as it is in the file.
pub fn written_digest(text: &str) -> Digest {
    let text = plain(text);
    Digest::of(text.strip_suffix('\n').unwrap_or(&text))
}

/// Makes a text that is not counted.
impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Arc::new(Held { text, _share: None }))
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.text
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}
