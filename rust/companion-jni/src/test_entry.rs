//! What the tests call: a native that panics, of the class `TestEntry` in the plugin's tests.

use jni::objects::JClass;
use jni::{Env, NativeMethod, native_method};

use crate::gate::{Error, Gate};

const _: NativeMethod = native_method! {
    java_type = "dev.companion.gemini.core.TestEntry",
    error_policy = Gate,
    static extern fn panic(),
};

fn panic<'a>(_: &mut Env<'a>, _: JClass<'a>) -> Result<(), Error> {
    panic!("as the test asked for");
}
