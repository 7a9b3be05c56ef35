//! Implements the native functions of `dev.companion.gemini.core.NativeCore`, which Kotlin calls.
//!
//! The compiler checks them against their signatures. Texts of files cross as UTF-8 bytes, because
//! a Java string with half of a surrogate pair has no UTF-8 form; paths cross as strings.

#![expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "the macro that exports them gives natives their shape"
)]

use std::hint::black_box;

use std::sync::Arc;

use companion_protocol::ide::Position;
use companion_protocol::settings::{Settings, WrongSetting};
use companion_server::{Config, Delivery, PendingResponder, Server};
use jni::objects::{JByteArray, JClass, JObject, JObjectArray, JString};
use jni::refs::Reference as _;
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, NativeMethod, native_method};

use crate::callbacks::RESPONDERS;
use crate::cores::CORES;
use crate::diagnosis;
use crate::gate::{Error, Gate};
use crate::logging;
use crate::panics;

#[repr(C)]
struct Abi {
    name: [u8; 24],
    version: jint,
}

/// The version of the boundary. Increase it with every change of these functions or of
/// `NativeCallbacks`: Kotlin refuses a library with another version. `cargo xtask check-libraries`
/// finds the version in the file by the name before it.
static ABI: Abi = Abi { name: *b"companion_jni ABI number", version: 6 };

type Result<T> = std::result::Result<T, Error>;

/// Declares the native functions. The Rust function of the same name implements each.
macro_rules! natives {
    ($(fn $name:ident $arguments:tt $(-> $result:tt)?;)*) => {
        $(
            const _: NativeMethod = native_method! {
                java_type = "dev.companion.gemini.core.NativeCore",
                error_policy = Gate,
                static extern fn $name $arguments $(-> $result)?,
            };
        )*
    };
}

natives! {
    fn abi_version() -> jint;
    fn start(settings: JString, callbacks: dev.companion.gemini.core.NativeCallbacks) -> jlong;
    fn settings_problem(settings: JString) -> JString;
    fn stop(core: jlong);
    fn file_opened(core: jlong, path: JString);
    fn file_closed(core: jlong, path: JString);
    fn file_focused(core: jlong, path: JString);
    fn caret_moved(core: jlong, path: JString, line: jint, character: jint);
    fn selection_changed(core: jlong, path: JString, text: jbyte[]);
    fn file_renamed(core: jlong, from: JString, to: JString);
    fn file_deleted(core: jlong, path: JString);
    fn workspace_changed(core: jlong, roots: [JString]);
    fn trust_changed(core: jlong, trusted: jboolean);
    fn silence_changed(core: jlong, silent: jboolean);
    fn complete_request(request: jlong, content: jbyte[]);
    fn fail_request(request: jlong, message: JString);
    fn diff_resolved(
        core: jlong,
        file_path: JString,
        accepted: jboolean,
        content: jbyte[]
    ) -> jint;
    fn withdraw_acceptance(core: jlong, file_path: JString) -> jboolean;
    fn terminal_environment(core: jlong) -> [JString];
    fn diagnosis(core: jlong) -> JString;
    fn status(core: jlong) -> JString;
}

type Class<'a> = JClass<'a>;
type Bytes<'a> = JByteArray<'a>;
type Strings<'a> = JObjectArray<'a, JString<'a>>;

fn abi_version<'a>(_: &mut Env<'a>, _: Class<'a>) -> Result<jint> {
    // Kotlin calls this function first.
    panics::watch();
    // By its address: a plain number would leave no name in the file.
    Ok(black_box(&ABI).version)
}

fn start<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    settings: JString<'a>,
    callbacks: JObject<'a>,
) -> Result<jlong> {
    if callbacks.is_null() {
        return Err(Error::Argument("callbacks must not be null"));
    }
    let (settings, unknown) = Settings::from_json(&settings.try_to_string(env)?)?;
    logging::set_level(settings.log_level);
    let core = CORES.start(env.new_global_ref(callbacks)?, |runtime, host| {
        Server::open(runtime, Config::new(settings), Arc::new(host))
    })?;
    for name in unknown {
        log::warn!("this library knows no setting {name:?}, and does without");
    }
    Ok(core)
}

/// Describes the problem of the first invalid setting; null if all are valid.
fn settings_problem<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    settings: JString<'a>,
) -> Result<JString<'a>> {
    match Settings::from_json(&settings.try_to_string(env)?) {
        Ok(_) => Ok(JString::null()),
        Err(WrongSetting { problem, .. }) => Ok(JString::from_str(env, problem)?),
    }
}

fn stop<'a>(_: &mut Env<'a>, _: Class<'a>, core: jlong) -> Result<()> {
    CORES.stop(core);
    Ok(())
}

fn file_opened<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong, path: JString<'a>) -> Result<()> {
    CORES.get(core)?.file_opened(&path.try_to_string(env)?);
    Ok(())
}

fn file_closed<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong, path: JString<'a>) -> Result<()> {
    CORES.get(core)?.file_closed(&path.try_to_string(env)?);
    Ok(())
}

fn file_focused<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong, path: JString<'a>) -> Result<()> {
    CORES.get(core)?.file_focused(&path.try_to_string(env)?);
    Ok(())
}

fn caret_moved<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    core: jlong,
    path: JString<'a>,
    line: jint,
    character: jint,
) -> Result<()> {
    let one_based = |n: jint| u32::try_from(n).unwrap_or_default();
    let cursor = Position::new(one_based(line), one_based(character))
        .ok_or(Error::Argument("line and character are 1-based"))?;
    CORES.get(core)?.caret_moved(&path.try_to_string(env)?, cursor);
    Ok(())
}

fn selection_changed<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    core: jlong,
    path: JString<'a>,
    text: Bytes<'a>,
) -> Result<()> {
    CORES.get(core)?.selection_changed(&path.try_to_string(env)?, &utf8(env, &text)?);
    Ok(())
}

fn file_renamed<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    core: jlong,
    from: JString<'a>,
    to: JString<'a>,
) -> Result<()> {
    CORES.get(core)?.file_renamed(&from.try_to_string(env)?, &to.try_to_string(env)?);
    Ok(())
}

fn file_deleted<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong, path: JString<'a>) -> Result<()> {
    CORES.get(core)?.file_deleted(&path.try_to_string(env)?);
    Ok(())
}

fn workspace_changed<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    core: jlong,
    roots: Strings<'a>,
) -> Result<()> {
    Ok(CORES.get(core)?.workspace_changed(&strings(env, &roots)?)?)
}

fn trust_changed<'a>(_: &mut Env<'a>, _: Class<'a>, core: jlong, trusted: jboolean) -> Result<()> {
    CORES.get(core)?.trust_changed(trusted);
    Ok(())
}

fn silence_changed<'a>(_: &mut Env<'a>, _: Class<'a>, core: jlong, silent: jboolean) -> Result<()> {
    CORES.get(core)?.silence_changed(silent);
    Ok(())
}

fn complete_request<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    request: jlong,
    content: Bytes<'a>,
) -> Result<()> {
    let content = if content.is_null() { None } else { Some(utf8(env, &content)?) };
    match RESPONDERS.take(request.cast_unsigned()) {
        Some(PendingResponder::Diff(responder)) => responder.complete(content),
        Some(PendingResponder::Diagnostics(responder)) => {
            responder.complete_json(&content.unwrap_or_default());
        }
        None => {}
    }
    Ok(())
}

fn fail_request<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    request: jlong,
    message: JString<'a>,
) -> Result<()> {
    let message = message.try_to_string(env)?;
    if let Some(asked) = RESPONDERS.take(request.cast_unsigned()) {
        asked.fail(&message);
    }
    Ok(())
}

fn diff_resolved<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    core: jlong,
    file_path: JString<'a>,
    accepted: jboolean,
    content: Bytes<'a>,
) -> Result<jint> {
    let path = file_path.try_to_string(env)?;
    let server = CORES.get(core)?;
    let delivery = if accepted {
        server.diff_accepted(&path, utf8(env, &content)?)
    } else {
        server.diff_rejected(&path)
    };
    Ok(match delivery {
        Delivery::Delivered => 0,
        Delivery::Queued => 1,
        Delivery::Unknown => 2,
    })
}

fn withdraw_acceptance<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    core: jlong,
    file_path: JString<'a>,
) -> Result<jboolean> {
    Ok(CORES.get(core)?.withdraw_acceptance(&file_path.try_to_string(env)?))
}

/// Returns names and values alternately.
fn terminal_environment<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong) -> Result<Strings<'a>> {
    let variables = CORES.get(core)?.terminal_environment();
    let texts: Vec<_> = variables.iter().flat_map(|(name, value)| [*name, value]).collect();
    array(env, &texts)
}

fn diagnosis<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong) -> Result<JString<'a>> {
    Ok(JString::from_str(env, diagnosis::text(&CORES.get(core)?))?)
}

/// Returns the server's status as JSON.
fn status<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong) -> Result<JString<'a>> {
    let status = CORES.get(core)?.status();
    let text = serde_json::to_string(&status).expect("a status is JSON");
    Ok(JString::from_str(env, text)?)
}

fn utf8(env: &Env<'_>, bytes: &Bytes<'_>) -> Result<String> {
    let bytes = env.convert_byte_array(bytes)?;
    String::from_utf8(bytes).map_err(|_| Error::Argument("the text is not valid UTF-8"))
}

fn array<'a>(env: &mut Env<'a>, texts: &[impl AsRef<str>]) -> Result<Strings<'a>> {
    let empty = JString::from_str(env, "")?;
    let array = JObjectArray::<JString>::new(env, texts.len(), &empty)?;
    for (index, text) in texts.iter().enumerate() {
        let text = JString::from_str(env, text.as_ref())?;
        array.set_element(env, index, &text)?;
    }
    Ok(array)
}

fn strings<'a>(env: &mut Env<'a>, array: &Strings<'a>) -> Result<Vec<String>> {
    let count = array.len(env)?;
    let text = |index| -> Result<String> {
        // One reference at a time, because the JVM limits local references.
        env.with_local_frame(1, |env| Ok(array.get_element(env, index)?.try_to_string(env)?))
    };
    (0..count).map(text).collect()
}
