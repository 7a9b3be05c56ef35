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

use companion_client::diagnose::diagnose_terminal;
use companion_protocol::editor::{Diagnosis, EditorNotification, EditorQuery};
use companion_protocol::jsonrpc::code;
use companion_protocol::settings::{Settings, WrongSetting};
use companion_server::{Config, Server};
use jni::objects::{JByteArray, JClass, JObject, JString};
use jni::refs::Reference as _;
use jni::sys::{jint, jlong};
use jni::{Env, NativeMethod, native_method};

use crate::callbacks::RESPONDERS;
use crate::cores::CORES;
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
static ABI: Abi = Abi { name: *b"companion_jni ABI number", version: 9 };

/// The variable by which clients recognize the IDE's terminal.
const TERMINAL: (&str, &str) = ("TERMINAL_EMULATOR", "JetBrains-JediTerm");

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
    fn notify(core: jlong, method: JString, params: JString, text: jbyte[]);
    fn request(core: jlong, method: JString, params: JString, text: jbyte[]) -> [jbyte];
    fn complete_request(request: jlong, content: jbyte[]);
    fn fail_request(request: jlong, message: JString);
}

type Class<'a> = JClass<'a>;
type Bytes<'a> = JByteArray<'a>;

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

/// Applies a notification of the editor's protocol. A non-null `text` replaces the one in `params`.
fn notify<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    core: jlong,
    method: JString<'a>,
    params: JString<'a>,
    text: Bytes<'a>,
) -> Result<()> {
    let server = CORES.get(core)?;
    let method = method.try_to_string(env)?;
    let mut notification = EditorNotification::from_json(&method, &params.try_to_string(env)?)?;
    if !text.is_null() {
        notification = notification.with_text(utf8(env, &text)?);
    }
    if let Err(error) = server.apply(notification) {
        // Without a context for a path, the IDE works as before. The status reports a discovery file that could
        // not be written.
        log::warn!("{method} of the IDE: {}", error.message);
    }
    Ok(())
}

/// Answers a request of the editor's protocol, with JSON in UTF-8. A non-null `text` replaces the one
/// in `params`. Returns null if the server does not know what the request names.
fn request<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    core: jlong,
    method: JString<'a>,
    params: JString<'a>,
    text: Bytes<'a>,
) -> Result<Bytes<'a>> {
    let server = CORES.get(core)?;
    let method = method.try_to_string(env)?;
    let mut query = EditorQuery::from_json(&method, &params.try_to_string(env)?)?;
    if !text.is_null() {
        query = query.with_text(utf8(env, &text)?);
    }
    match server.answer(query, diagnosis) {
        Ok(answer) => Ok(env.byte_array_from_slice(answer.as_bytes())?),
        Err(error) if error.code == code::INVALID_PARAMS => Ok(Bytes::null()),
        Err(error) => Err(error.into()),
    }
}

fn complete_request<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    request: jlong,
    content: Bytes<'a>,
) -> Result<()> {
    let content = if content.is_null() { None } else { Some(utf8(env, &content)?) };
    if let Some(responder) = RESPONDERS.take(request.cast_unsigned()) {
        responder.complete(content);
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
    if let Some(responder) = RESPONDERS.take(request.cast_unsigned()) {
        responder.fail(&message);
    }
    Ok(())
}

/// Diagnoses the IDE's terminal.
fn diagnosis(server: &Server) -> Diagnosis {
    let mut variables = server.terminal_environment();
    variables.insert(TERMINAL.0, TERMINAL.1.to_owned());
    Diagnosis { text: diagnose_terminal(server.clients(), variables) }
}

fn utf8(env: &Env<'_>, bytes: &Bytes<'_>) -> Result<String> {
    let bytes = env.convert_byte_array(bytes)?;
    String::from_utf8(bytes).map_err(|_| Error::Argument("the text is not valid UTF-8"))
}
