//! Reads the arguments of the tools.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::diagnostics::Severity;
use crate::text;

/// The arguments of all tools; each tool checks the ones that it needs.
///
/// An argument of the wrong type causes an error with the argument's name, unlike serde's own
/// errors.
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

impl<'de> Deserialize<'de> for ToolArguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ArgumentsVisitor;
        impl<'de> Visitor<'de> for ArgumentsVisitor {
            type Value = ToolArguments;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut arguments = ToolArguments::default();
                while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                    match &*key {
                        "filePath" => string(&mut map, "filePath", &mut arguments.file_path)?,
                        "newContent" => {
                            string(&mut map, "newContent", &mut arguments.new_content)?;
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
                Ok(arguments)
            }
        }
        fn string<'de, A: MapAccess<'de>>(
            map: &mut A,
            name: &str,
            place: &mut Option<String>,
        ) -> Result<(), A::Error> {
            if place.is_some() {
                return Err(A::Error::custom(format_args!("{name} is there twice")));
            }
            *place = Some(text::named(name, map.next_value()?)?);
            Ok(())
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
