//! Attaches the thread to the JVM, and calls Kotlin's objects.

use jni::objects::{JByteArray, JObject, JString, JThrowable, JValue};
use jni::refs::Global;
use jni::vm::AttachConfig;
use jni::{Env, JavaVM, jni_sig, jni_str};
use log::Level;

use companion_protocol::editor::CompanionNotification;
use companion_server::EditorRequest;
use serde::Serialize;

use crate::callbacks::{Calls, KotlinSide};

/// The number of stack frames in the log.
const FRAMES: usize = 16;

/// The Kotlin object to call: a `NativeCallbacks`.
pub(crate) type Callbacks = Global<JObject<'static>>;

/// The JVM that loaded this library.
#[derive(Clone, Copy)]
pub(crate) struct Jvm;

impl KotlinSide for Jvm {
    type Object = Callbacks;

    fn attached(&self, call: &mut dyn FnMut(&mut dyn Calls<Callbacks>)) -> Result<(), String> {
        let attached = JavaVM::singleton().and_then(|vm| {
            let config = || {
                AttachConfig::new().scoped(true).thread_name(jni_str!("gemini-companion-callbacks"))
            };
            vm.attach_current_thread_with_config(config, None, |env| {
                call(&mut Attached(env));
                Ok::<_, jni::errors::Error>(())
            })
        });
        attached.map_err(|error| error.to_string())
    }
}

/// The attached thread.
struct Attached<'a, 'local>(&'a mut Env<'local>);

impl Calls<Callbacks> for Attached<'_, '_> {
    fn request(
        &mut self,
        object: &Callbacks,
        number: u64,
        request: EditorRequest,
    ) -> Result<(), String> {
        in_frame(self.0, |env| {
            let method = JString::from_str(env, request.method())?;
            let params = json(env, &request.params_without_text())?;
            let text = match request.text() {
                Some(text) => env.byte_array_from_slice(text.as_bytes())?,
                None => JByteArray::null(),
            };
            drop(request);
            let sig = jni_sig!((jlong, JString, JString, jbyte[]));
            let number = JValue::Long(number.cast_signed());
            let (method, params) = (JValue::Object(&method), JValue::Object(&params));
            let arguments = [number, method, params, JValue::Object(&text)];
            env.call_method(object, jni_str!("request"), sig, &arguments).map(drop)
        })
    }

    fn notify(
        &mut self,
        object: &Callbacks,
        notification: &CompanionNotification,
    ) -> Result<(), String> {
        in_frame(self.0, |env| {
            let method = JString::from_str(env, notification.method())?;
            let params = json(env, notification)?;
            let (name, sig) = (jni_str!("notify"), jni_sig!((JString, JString)));
            let arguments = [JValue::Object(&method), JValue::Object(&params)];
            env.call_method(object, name, sig, &arguments).map(drop)
        })
    }

    fn log(&mut self, object: &Callbacks, level: Level, text: String) -> Result<(), String> {
        in_frame(self.0, |env| {
            let text = JString::from_str(env, text)?;
            let (name, sig) = (jni_str!("log"), jni_sig!((jint, JString)));
            let arguments = [(level as i32).into(), JValue::Object(&text)];
            env.call_method(object, name, sig, &arguments).map(drop)
        })
    }
}

fn json<'a>(env: &mut Env<'a>, value: &impl Serialize) -> jni::errors::Result<JString<'a>> {
    JString::from_str(env, serde_json::to_string(value).expect("the message is JSON"))
}

/// Frees a call's local references, and converts a Kotlin exception to an error that names it.
fn in_frame(
    env: &mut Env<'_>,
    call: impl FnOnce(&mut Env<'_>) -> jni::errors::Result<()>,
) -> Result<(), String> {
    let called = env.with_local_frame(16, call);
    let described = env.with_local_frame(16, |env| {
        let Some(thrown) = env.exception_occurred() else { return called.map(|()| None) };
        env.exception_clear();
        describe(env, &thrown).map(Some)
    });
    match described {
        Ok(None) => Ok(()),
        Ok(Some(thrown)) => Err(thrown),
        Err(error) => {
            env.exception_clear();
            Err(error.to_string())
        }
    }
}

/// Describes an exception by class and position. Omits its message, which may contain a file's
/// text.
fn describe(env: &mut Env<'_>, thrown: &JThrowable<'_>) -> jni::errors::Result<String> {
    let mut text = env.get_object_class(thrown)?.get_name(env)?.try_to_string(env)?;
    let stack = thrown.get_stack_trace(env)?;
    for index in 0..stack.len(env)?.min(FRAMES) {
        // One reference at a time, because the JVM limits local references.
        let frame = env.with_local_frame(4, |env| {
            stack.get_element(env, index)?.try_to_string(env)?.try_to_string(env)
        })?;
        text.push_str("\n    at ");
        text.push_str(&frame);
    }
    Ok(text)
}
