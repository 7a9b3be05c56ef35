//! Makes the bearer token.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// 244 random bits as 64 hexadecimal digits. It has no `Debug`, so that no log has it by mistake.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Token(Arc<str>);

impl Token {
    pub(crate) fn random() -> Self {
        Self(format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()).into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    #[cfg(test)]
    pub(crate) fn for_tests(text: &str) -> Self {
        Self(text.into())
    }
}

impl TryFrom<String> for Token {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_ours = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_ours { Ok(Self(text.into())) } else { Err("the token must have 64 digits") }
    }
}
