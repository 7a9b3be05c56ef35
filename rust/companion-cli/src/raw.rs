//! Finds members of JSON objects, without reading the rest.

use std::borrow::Cow;
use std::fmt::{self, Formatter};

use serde::Deserializer as _;
use serde::de::{Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Returns a member of an object. Returns `None` if the member occurs twice, because parsers differ in
/// which one they take.
pub(crate) fn member<'a>(object: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    serde_json::Deserializer::from_str(object.get()).deserialize_map(Member(name)).ok()?
}

/// Finds the member of that name.
struct Member<'a>(&'a str);

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some((name, value)) = map.next_entry::<Cow<'_, str>, _>()? {
            if name == self.0 && found.replace(value).is_some() {
                return Err(A::Error::custom("it is there twice"));
            }
        }
        Ok(found)
    }
}
