//! What Kotlin calls: the natives of `dev.companion.gemini.core.NativeCore`, checked against
//! their signatures when they are compiled.
//!
//! Texts of files cross as UTF-8 bytes, because a Java string with half of a surrogate pair has no
//! UTF-8; paths cross as strings.

#![expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "the macro that exports them gives natives their shape"
)]

use std::hint::black_box;
use std::net::SocketAddr;
use std::path::PathBuf;

use companion_protocol::ide::{Cursor, IdeInfo};
use companion_server::{Config, Delivery, Limits, Missing};
use jni::objects::{JByteArray, JClass, JObject, JObjectArray, JString};
use jni::refs::Reference as _;
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, NativeMethod, native_method};
use log::LevelFilter;

use crate::callbacks::RESPONDERS;
use crate::cores;
use crate::diagnostics;
use crate::gate::{Error, Gate};
use crate::logging;
use crate::panics;
use crate::settings;

#[repr(C)]
struct Abi {
    name: [u8; 24],
    version: jint,
}

/// The version changes with every change of these natives or of `NativeCallbacks`. Kotlin refuses a
/// library of another one. `cargo xtask check-libraries` finds it in the file by the name before it.
static ABI: Abi = Abi { name: *b"companion_jni ABI number", version: 3 };

type Result<T> = std::result::Result<T, Error>;

/// Declares the natives. Each is carried out by the function of the same name.
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
    fn start(
        workspace: [JString],
        ide_name: JString,
        ide_display_name: JString,
        ide_pid: jlong,
        trust: jint,
        diffs: jboolean,
        resume: jboolean,
        body_limit: jint,
        allowed_hosts: [JString],
        listen: [JString],
        log_level: jint,
        callbacks: dev.companion.gemini.core.NativeCallbacks
    ) -> jlong;
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
    fn complete_request(request: jlong, content: jbyte[]);
    fn fail_request(request: jlong, message: JString);
    fn diff_resolved(
        core: jlong,
        file_path: JString,
        accepted: jboolean,
        content: jbyte[]
    ) -> jint;
    fn terminal_environment(core: jlong) -> [JString];
    fn diagnostics(core: jlong) -> JString;
    fn port(core: jlong) -> jint;
    fn listening(core: jlong) -> [JString];
    fn not_listening(core: jlong) -> [JString];
    fn host_problem(host: JString) -> JString;
    fn address_problem(address: JString) -> JString;
    fn discovery_file(core: jlong) -> JString;
    fn connected(core: jlong) -> jint;
    fn open_diffs(core: jlong) -> jint;
}

type Class<'a> = JClass<'a>;
type Bytes<'a> = JByteArray<'a>;
type Strings<'a> = JObjectArray<'a, JString<'a>>;

fn abi_version<'a>(_: &mut Env<'a>, _: Class<'a>) -> Result<jint> {
    // Nothing is called before this.
    panics::watch();
    // By its address: a mere number would leave no name in the file.
    Ok(black_box(&ABI).version)
}

#[expect(clippy::too_many_arguments, reason = "typed, where a structure would need a class")]
fn start<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    workspace: Strings<'a>,
    ide_name: JString<'a>,
    ide_display_name: JString<'a>,
    ide_pid: jlong,
    trust: jint,
    diffs: jboolean,
    resume: jboolean,
    body_limit: jint,
    allowed_hosts: Strings<'a>,
    listen: Strings<'a>,
    log_level: jint,
    callbacks: JObject<'a>,
) -> Result<jlong> {
    if callbacks.is_null() {
        return Err(Error::Argument("callbacks must not be null"));
    }
    let trusted = match trust {
        -1 => None,
        0 => Some(false),
        1 => Some(true),
        _ => return Err(Error::Argument("trust must be -1 (leave to the CLI), 0 or 1")),
    };
    let level = usize::try_from(log_level).ok().and_then(|level| LevelFilter::iter().nth(level));
    logging::set_level(level.ok_or(Error::Argument("log level must be from 0, off, to 5, trace"))?);
    let roots = strings(env, &workspace)?;
    let ide = IdeInfo {
        name: ide_name.try_to_string(env)?,
        display_name: ide_display_name.try_to_string(env)?,
    };
    let pid = u32::try_from(ide_pid).map_err(|_| Error::Argument("that is no process id"))?;
    let megabytes = usize::try_from(body_limit).ok().filter(|limit| *limit > 0);
    let body = megabytes.ok_or(Error::Argument("the body limit must be positive"))? << 20;
    let allowed_hosts = settings::all(&strings(env, &allowed_hosts)?, settings::allowed_host)?;
    let listen = settings::all(&strings(env, &listen)?, settings::listen_address)?;
    let config = Config {
        trusted,
        diffs,
        allowed_hosts,
        limits: Limits { body, ..Limits::default() },
        ..Config::new(roots.into_iter().map(PathBuf::from).collect(), ide, pid)
    };
    cores::start(config, &listen, resume, env.new_global_ref(callbacks)?)
}

fn stop<'a>(_: &mut Env<'a>, _: Class<'a>, core: jlong) -> Result<()> {
    cores::stop(core);
    Ok(())
}

fn file_opened<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong, path: JString<'a>) -> Result<()> {
    cores::get(core)?.file_opened(&path.try_to_string(env)?);
    Ok(())
}

fn file_closed<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong, path: JString<'a>) -> Result<()> {
    cores::get(core)?.file_closed(&path.try_to_string(env)?);
    Ok(())
}

fn file_focused<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong, path: JString<'a>) -> Result<()> {
    cores::get(core)?.file_focused(&path.try_to_string(env)?);
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
    let cursor = Cursor::new(one_based(line), one_based(character))
        .ok_or(Error::Argument("line and character are 1-based"))?;
    cores::get(core)?.caret_moved(&path.try_to_string(env)?, cursor);
    Ok(())
}

fn selection_changed<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    core: jlong,
    path: JString<'a>,
    text: Bytes<'a>,
) -> Result<()> {
    cores::get(core)?.selection_changed(&path.try_to_string(env)?, &utf8(env, &text)?);
    Ok(())
}

fn file_renamed<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    core: jlong,
    from: JString<'a>,
    to: JString<'a>,
) -> Result<()> {
    cores::get(core)?.file_renamed(&from.try_to_string(env)?, &to.try_to_string(env)?);
    Ok(())
}

fn file_deleted<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong, path: JString<'a>) -> Result<()> {
    cores::get(core)?.file_deleted(&path.try_to_string(env)?);
    Ok(())
}

fn workspace_changed<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    core: jlong,
    roots: Strings<'a>,
) -> Result<()> {
    Ok(cores::get(core)?.workspace_changed(&strings(env, &roots)?)?)
}

fn trust_changed<'a>(_: &mut Env<'a>, _: Class<'a>, core: jlong, trusted: jboolean) -> Result<()> {
    cores::get(core)?.trust_changed(trusted);
    Ok(())
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

fn diff_resolved<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    core: jlong,
    file_path: JString<'a>,
    accepted: jboolean,
    content: Bytes<'a>,
) -> Result<jint> {
    let path = file_path.try_to_string(env)?;
    let server = cores::get(core)?;
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

/// Names and values in turn.
fn terminal_environment<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong) -> Result<Strings<'a>> {
    let variables = cores::get(core)?.terminal_environment();
    let texts: Vec<_> = variables.iter().flat_map(|(name, value)| [*name, value]).collect();
    array(env, &texts)
}

fn diagnostics<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong) -> Result<JString<'a>> {
    Ok(JString::from_str(env, diagnostics::text(&cores::get(core)?))?)
}

fn port<'a>(_: &mut Env<'a>, _: Class<'a>, core: jlong) -> Result<jint> {
    Ok(cores::get(core)?.port().into())
}

/// Addresses with port.
fn listening<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong) -> Result<Strings<'a>> {
    let addresses = cores::get(core)?.status().addresses;
    let texts: Vec<_> = addresses.iter().map(SocketAddr::to_string).collect();
    array(env, &texts)
}

/// Where it does not listen although it was to: a sentence for each address.
fn not_listening<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong) -> Result<Strings<'a>> {
    let missing = cores::get(core)?.status().missing;
    let texts: Vec<_> = missing.into_iter().map(|Missing { reason, .. }| reason).collect();
    array(env, &texts)
}

/// What is wrong with a host that is to be allowed; null if nothing is.
fn host_problem<'a>(env: &mut Env<'a>, _: Class<'a>, host: JString<'a>) -> Result<JString<'a>> {
    let host = host.try_to_string(env)?;
    problem(env, settings::allowed_host(&host))
}

/// What is wrong with an address to listen on; null if nothing is.
fn address_problem<'a>(
    env: &mut Env<'a>,
    _: Class<'a>,
    address: JString<'a>,
) -> Result<JString<'a>> {
    let address = address.try_to_string(env)?;
    problem(env, settings::listen_address(&address))
}

fn discovery_file<'a>(env: &mut Env<'a>, _: Class<'a>, core: jlong) -> Result<JString<'a>> {
    match cores::get(core)?.status().discovery_file {
        Some(file) => Ok(JString::from_str(env, file.to_string_lossy())?),
        None => Ok(JString::null()),
    }
}

fn connected<'a>(_: &mut Env<'a>, _: Class<'a>, core: jlong) -> Result<jint> {
    Ok(jint::try_from(cores::get(core)?.status().connected).unwrap_or(jint::MAX))
}

fn open_diffs<'a>(_: &mut Env<'a>, _: Class<'a>, core: jlong) -> Result<jint> {
    Ok(jint::try_from(cores::get(core)?.status().open_diffs).unwrap_or(jint::MAX))
}

fn problem<'a, T>(
    env: &mut Env<'a>,
    checked: std::result::Result<T, String>,
) -> Result<JString<'a>> {
    match checked {
        Ok(_) => Ok(JString::null()),
        Err(problem) => Ok(JString::from_str(env, problem)?),
    }
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
        // One reference at a time: there may be many elements, and references are few.
        env.with_local_frame(1, |env| Ok(array.get_element(env, index)?.try_to_string(env)?))
    };
    (0..count).map(text).collect()
}
