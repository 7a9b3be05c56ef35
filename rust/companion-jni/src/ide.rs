//! Attaches the thread to the JVM, and calls Kotlin's objects.

use jni::objects::{JObject, JString, JThrowable, JValue};
use jni::refs::Global;
use jni::vm::AttachConfig;
use jni::{Env, JavaVM, jni_sig, jni_str};
use log::Level;

use companion_protocol::editor::OpenDiff;

use crate::callbacks::{Calls, EditorCall, KotlinSide};

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
    fn ask(&mut self, object: &Callbacks, request: u64, ask: EditorCall) -> Result<(), String> {
        in_frame(self.0, |env| call_ask(env, object, request, ask))
    }

    fn sessions(&mut self, object: &Callbacks, count: usize) -> Result<(), String> {
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        in_frame(self.0, |env| {
            let (name, sig) = (jni_str!("sessionsChanged"), jni_sig!((jint)));
            env.call_method(object, name, sig, &[count.into()]).map(drop)
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

fn call_ask(
    env: &mut Env<'_>,
    object: &Callbacks,
    request: u64,
    ask: EditorCall,
) -> jni::errors::Result<()> {
    let request = JValue::Long(request.cast_signed());
    let (name, argument) = match ask {
        EditorCall::Open(proposal) => {
            let content = env.byte_array_from_slice(proposal.new_content.as_bytes())?;
            let rest = OpenDiff { new_content: "", ..proposal.to_show() };
            let rest = serde_json::to_string(&rest).expect("a proposal is JSON");
            let rest = JString::from_str(env, rest)?;
            drop(proposal);
            let (name, sig) = (jni_str!("openDiff"), jni_sig!((jlong, JString, jbyte[])));
            let arguments = [request, JValue::Object(&rest), JValue::Object(&content)];
            return env.call_method(object, name, sig, &arguments).map(drop);
        }
        EditorCall::Close(path) => (jni_str!("closeDiff"), path),
        EditorCall::Accept(path) => (jni_str!("acceptDiff"), path),
        EditorCall::Reject(path) => (jni_str!("rejectDiff"), path),
        EditorCall::Diagnostics(request) => {
            (jni_str!("diagnostics"), serde_json::to_string(&request).expect("a request is JSON"))
        }
    };
    let argument = JString::from_str(env, argument)?;
    let arguments = [request, JValue::Object(&argument)];
    env.call_method(object, name, jni_sig!((jlong, JString)), &arguments).map(drop)
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
