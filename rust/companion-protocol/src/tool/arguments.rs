//! Reads the arguments of the tools.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::diagnostics::Severity;
use crate::text::{self, JsonString};

/// The arguments of all tools; each tool checks the ones that it needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ToolArguments {
    /// `filePath`: absolute.
    pub file_path: Option<String>,
    /// `newContent`: the whole proposed text; may be empty.
    pub new_content: Option<String>,
    /// `suppressNotification`: close without a notification to the client.
    pub suppress_notification: Option<bool>,
    /// `severity`: the least severe diagnostics to return.
    pub severity: Option<Severity>,
    /// `onlyNew`: return only diagnostics that the last answer about the file did not have.
    pub only_new: Option<bool>,
}

/// The arguments of all tools as they are read. An argument of the wrong type causes an error with the
/// argument's name, unlike serde's own errors.
#[derive(Debug, Default)]
pub struct RawArguments<'a> {
    /// All but `newContent`.
    pub others: ToolArguments,
    /// `newContent`, which is decoded later.
    pub new_content: Option<JsonString<'a>>,
}

impl<'de> Deserialize<'de> for RawArguments<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ArgumentsVisitor;
        impl<'de> Visitor<'de> for ArgumentsVisitor {
            type Value = RawArguments<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut arguments = ToolArguments::default();
                let mut new_content = None;
                while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                    match &*key {
                        "filePath" => {
                            let path = once(&mut map, "filePath", arguments.file_path.is_some())?;
                            arguments.file_path = Some(text::named("filePath", path)?);
                        }
                        "newContent" => {
                            new_content =
                                Some(once(&mut map, "newContent", new_content.is_some())?);
                        }
                        "suppressNotification" => {
                            let place = &mut arguments.suppress_notification;
                            value(&mut map, "suppressNotification must be a boolean", place)?;
                        }
                        "severity" => {
                            let wrong = "severity must be one of error, warning, information, hint";
                            value(&mut map, wrong, &mut arguments.severity)?;
                        }
                        "onlyNew" => {
                            let place = &mut arguments.only_new;
                            value(&mut map, "onlyNew must be a boolean", place)?;
                        }
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(RawArguments { others: arguments, new_content })
            }
        }
        fn once<'de, A: MapAccess<'de>>(
            map: &mut A,
            name: &str,
            is_there: bool,
        ) -> Result<JsonString<'de>, A::Error> {
            if is_there {
                return Err(A::Error::custom(format_args!("{name} is there twice")));
            }
            map.next_value()
        }
        fn value<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
            map: &mut A,
            wrong: &str,
            place: &mut Option<T>,
        ) -> Result<(), A::Error> {
            let value = map.next_value::<&RawValue>()?;
            *place = serde_json::from_str(value.get()).map_err(|_| A::Error::custom(wrong))?;
            Ok(())
        }
        deserializer.deserialize_map(ArgumentsVisitor)
    }
}
