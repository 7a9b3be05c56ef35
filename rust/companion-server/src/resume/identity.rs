//! Who a server is: the secret from which its token and its session ids are made.
//!
//! A session id carries the proof that it was given out by a server of this secret, so that a
//! later process recognises it and none has to be saved.

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The secret, of 244 random bits. It can't be printed, so that no log has it by mistake.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Identity([u8; 32]);

impl Identity {
    pub(crate) fn new() -> Self {
        let mut secret = [0; 32];
        secret[..16].copy_from_slice(Uuid::new_v4().as_bytes());
        secret[16..].copy_from_slice(Uuid::new_v4().as_bytes());
        Self(secret)
    }

    /// The bearer token.
    pub(crate) fn token(&self) -> String {
        hex(&self.mac("token", &[]).finalize().into_bytes().into())
    }

    /// A new id: 8 random bytes, and 8 that prove them.
    pub(crate) fn new_session(&self) -> Uuid {
        let mut id = *Uuid::new_v4().as_bytes();
        let (nonce, proof) = id.split_at_mut(8);
        proof.copy_from_slice(&self.mac("session", nonce).finalize().into_bytes()[..8]);
        Uuid::from_bytes(id)
    }

    /// Whether an id was given out under this secret.
    pub(crate) fn knows(&self, session: Uuid) -> bool {
        let (nonce, proof) = session.as_bytes().split_at(8);
        self.mac("session", nonce).verify_truncated_left(proof).is_ok()
    }

    fn mac(&self, purpose: &str, data: &[u8]) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("any length will do");
        mac.chain_update(purpose).chain_update(data)
    }
}

/// Names something by its content: 32 hexadecimal digits.
pub(super) fn hash(text: &str) -> String {
    let [hash, _] = halves(&Sha256::digest(text).into());
    format!("{hash:032x}")
}

impl From<Identity> for String {
    fn from(identity: Identity) -> Self {
        hex(&identity.0)
    }
}

impl TryFrom<String> for Identity {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let wrong = "the secret must have 64 hexadecimal digits";
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong);
        }
        let mut secret = [0; 32];
        for (half, at) in secret.chunks_exact_mut(16).zip([0, 32]) {
            let number = u128::from_str_radix(&text[at..at + 32], 16).map_err(|_| wrong)?;
            half.copy_from_slice(&number.to_be_bytes());
        }
        Ok(Self(secret))
    }
}

fn hex(bytes: &[u8; 32]) -> String {
    let [first, second] = halves(bytes);
    format!("{first:032x}{second:032x}")
}

fn halves(bytes: &[u8; 32]) -> [u128; 2] {
    let (first, second) = bytes.split_at(16);
    [first, second].map(|half| u128::from_be_bytes(half.try_into().expect("16 bytes each")))
}
