//! Identifies a diff, also after a restart.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Identifies a diff. Ids are unique, also after a restart.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct DiffId(pub u64);

impl DiffId {
    /// Makes a random id.
    pub fn random() -> Self {
        Self(Uuid::new_v4().as_u64_pair().1)
    }

    pub(crate) fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Reads an id as [`Display`](fmt::Display) writes it.
    pub fn parse(text: &str) -> Option<Self> {
        u64::from_str_radix(text, 16).ok().map(Self)
    }
}

impl fmt::Display for DiffId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}
