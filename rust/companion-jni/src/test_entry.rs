//! Implements native functions that panic, for the class `TestEntry` in the plugin's tests.

use std::thread;

use jni::objects::JClass;
use jni::{Env, NativeMethod, native_method};

use crate::gate::{Error, Gate};

const _: NativeMethod = native_method! {
    java_type = "dev.companion.gemini.core.TestEntry",
    error_policy = Gate,
    static extern fn panic(),
};

const _: NativeMethod = native_method! {
    java_type = "dev.companion.gemini.core.TestEntry",
    error_policy = Gate,
    static extern fn panic_in_thread(),
};

fn panic<'a>(_: &mut Env<'a>, _: JClass<'a>) -> Result<(), Error> {
    panic!("as the test asked for");
}

fn panic_in_thread<'a>(_: &mut Env<'a>, _: JClass<'a>) -> Result<(), Error> {
    thread::Builder::new().name("test".to_owned()).spawn(|| panic!("as the test asked for"))?;
    Ok(())
}
