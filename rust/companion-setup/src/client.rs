//! Turns on IDE mode in a client's settings, which are JSON with comments. Keeps all other
//! bytes.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use companion_platform::read_plain_file;
use companion_protocol::text::parse_with_comments;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde::{Deserialize, Serialize};

use crate::files::{check_changeable, check_place, replace, replace_with};

/// A client whose IDE mode setup turns on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// The client's name for users.
    pub name: String,
    /// The file of the user's settings.
    pub settings: PathBuf,
    /// Whether the client reads settings that begin with a byte order mark.
    pub allows_bom: bool,
    /// The folder of the user's extensions, if the client gets the extension.
    pub extensions: Option<PathBuf>,
    /// Why the client would not run all hooks of the extension, if its settings turn them off.
    pub hooks_off: Option<String>,
    /// Why the client would not start with a copied extension, if its settings refuse that.
    pub refuses_copies: Option<String>,
}

/// The value of `ide.enabled` before setup turned it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Before {
    /// The file did not exist.
    NoFile,
    /// The file had no `ide`.
    NoIde,
    /// `ide` had no `enabled`.
    Unset,
    /// It was off.
    Off,
}

/// The byte order mark. Windows' Notepad and PowerShell 5 write it.
const BOM: char = '\u{feff}';

/// Returns the value in the client's settings, and the text that turns IDE mode on. `None` if it is on.
pub(crate) fn plan(client: &Client) -> io::Result<Option<(Before, String)>> {
    let file = &*client.settings;
    let change = match read(file) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            let text = "{\n  \"ide\": {\n    \"enabled\": true\n  }\n}\n".to_owned();
            Some((Before::NoFile, text))
        }
        Ok(text) if text.starts_with(BOM) && !client.allows_bom => {
            return Err(invalid("they begin with a byte order mark (BOM)"));
        }
        text => turn_on(&text?)?,
    };
    if change.is_some() {
        check_place(file).and_then(|()| check_changeable(file)).map_err(by_hand)?;
    }
    Ok(change)
}

/// Reads a file of settings.
///
/// # Errors
/// Also for a pipe, which could block forever, and for a text that is not UTF-8, which the client
/// cannot read either.
pub(crate) fn read(file: &Path) -> io::Result<String> {
    String::from_utf8(read_plain_file(file, u64::MAX)?)
        .map_err(|_| invalid("they are not in UTF-8"))
}

/// Splits the byte order mark off, which stays as it is.
fn split_bom(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BOM) { BOM.len_utf8() } else { 0 })
}

/// Plans the same for existing settings.
fn turn_on(text: &str) -> io::Result<Option<(Before, String)>> {
    let (bom, json) = split_bom(text);
    let (root, settings) = parse(json)?;
    let there = last(&settings, "ide");
    let ide = match &there {
        Some(ide) => ide.object_value().ok_or_else(|| invalid("\"ide\" is not an object"))?,
        None => settings.object_value_or_set("ide"),
    };
    let before = match last(&ide, "enabled") {
        None => {
            ide.append("enabled", CstInputValue::Bool(true));
            if there.is_some() { Before::Unset } else { Before::NoIde }
        }
        Some(enabled) => match enabled.value().as_ref().and_then(CstNode::as_boolean_lit) {
            Some(value) if value.value() => return Ok(None),
            Some(value) => {
                value.set_value(true);
                Before::Off
            }
            None if is_true_as_text(&enabled) => return Ok(None),
            None => return Err(invalid("\"ide.enabled\" is neither true nor false")),
        },
    };
    Ok(Some((before, format!("{bom}{root}"))))
}

/// Returns whether turning it on in `settings` gives the text `on`.
pub(crate) fn becomes(settings: &str, on: &str) -> bool {
    matches!(turn_on(settings), Ok(Some((_, text))) if text == on)
}

/// Writes the planned settings, and the earlier ones into `backup`.
pub(crate) fn write(file: &Path, text: &str, backup: Option<&Path>) -> io::Result<()> {
    let Some(backup) = backup else { return replace(file, text) };
    replace_with(backup, &fs::read(file)?, Some(fs::metadata(file)?.permissions()))?;
    replace(file, text).map_err(|error| {
        if let Err(error) = fs::remove_file(backup) {
            log::warn!("{}: {error}", backup.display());
        }
        by_hand(error)
    })
}

/// Adds the way by hand if setup must not change the file.
fn by_hand(error: io::Error) -> io::Error {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    if !matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem) {
        return error;
    }
    let fix =
        "add to settings.json, or to the source that generates it: \"ide\": { \"enabled\": true }";
    io::Error::new(error.kind(), format!("{error}; {fix}"))
}

/// Returns the possible names of backups beside a file.
pub(crate) fn backups(file: &Path) -> impl Iterator<Item = PathBuf> {
    let names = (1..100).map(|number| format!("settings.json.before-setup-{number}"));
    names.map(|name| file.with_file_name(name))
}

/// Finds a free name for a backup beside a file.
pub(crate) fn free_backup(file: &Path) -> io::Result<PathBuf> {
    let free = backups(file).find(|backup| fs::symlink_metadata(backup).is_err());
    free.ok_or_else(|| io::Error::other("99 backups of the settings exist; delete some"))
}

/// Returns the settings with the change undone; `None` if they have changed since.
pub(crate) fn undone(text: &str, before: Before) -> io::Result<Option<String>> {
    let (bom, json) = split_bom(text);
    let (root, settings) = parse(json)?;
    let ide = last(&settings, "ide");
    let object = ide.as_ref().and_then(CstObjectProp::object_value);
    let Some(enabled) = object.and_then(|ide| last(&ide, "enabled")) else { return Ok(None) };
    let Some(value) = enabled.value().as_ref().and_then(CstNode::as_boolean_lit) else {
        return Ok(None);
    };
    if !value.value() {
        return Ok(None);
    }
    if before == Before::Off {
        value.set_value(false);
        return Ok(Some(format!("{bom}{root}")));
    }
    let there = comments(&root.children());
    enabled.remove();
    if before != Before::Unset
        && let Some(ide) = ide
        && ide.object_value().is_some_and(|ide| ide.properties().is_empty())
    {
        ide.remove();
    }
    if comments(&root.children()) == there {
        return Ok(Some(format!("{bom}{root}")));
    }
    // Otherwise a comment of the user would be lost.
    undone(text, Before::Off)
}

/// Returns whether the value is the text "true", which the clients read as true.
fn is_true_as_text(property: &CstObjectProp) -> bool {
    let text = property.value().and_then(|value| value.as_string_lit()?.decoded_value().ok());
    text.is_some_and(|text| text.eq_ignore_ascii_case("true"))
}

/// Returns the number of comments.
fn comments(nodes: &[CstNode]) -> usize {
    nodes.iter().map(|node| usize::from(node.is_comment()) + comments(&node.children())).sum()
}

/// Returns the last property with this name, because the client uses the last one.
fn last(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    let is_named = |key: &CstObjectProp| key.decoded_name().as_deref() == Some(name);
    object.properties().into_iter().rfind(is_named)
}

fn parse(text: &str) -> io::Result<(CstRootNode, CstObject)> {
    let not_json = |error: &dyn Display| invalid(&format!("they are not valid JSON: {error}"));
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|e| not_json(&e))?;
    // The file may be empty. Otherwise the client must be able to parse it, too.
    if root.value().is_some() {
        parse_with_comments(text).map_err(|error| not_json(&error))?;
    }
    let object =
        root.object_value_or_create().ok_or_else(|| invalid("they are not a JSON object"))?;
    Ok((root, object))
}

fn invalid(why: &str) -> io::Error {
    let why = format!("the settings can't be changed: {why}. Correct that, and run setup again");
    io::Error::new(io::ErrorKind::InvalidData, why)
}
