//! Converts errors and panics to Java exceptions at the boundary to Kotlin.

use std::any::Any;

use companion_protocol::jsonrpc::ErrorObject;
use companion_protocol::settings::WrongSetting;
use jni::Env;
use jni::errors::ErrorPolicy;
use jni::strings::JNIString;

use crate::panics;

/// An error of a call from Kotlin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// No running server has this number.
    #[error("the companion {0} is not running")]
    NotRunning(i64),
    /// An argument violates the contract with Kotlin.
    #[error("{0}")]
    Argument(&'static str),
    /// The editor's message is invalid, or the server refuses it.
    #[error("{}", .0.message)]
    Notification(ErrorObject),
    /// A setting of the user is invalid.
    #[error("{0}")]
    Setting(#[from] WrongSetting),
    /// The server could not be started.
    #[error("{0}")]
    Start(#[from] std::io::Error),
    /// The JVM refused. If an exception is pending, Kotlin gets that exception.
    #[error("{0}")]
    Jni(#[from] jni::errors::Error),
}

impl From<ErrorObject> for Error {
    fn from(error: ErrorObject) -> Self {
        Self::Notification(error)
    }
}

/// Throws `IllegalStateException` for an [`Error`] and `RuntimeException` for a panic.
pub(crate) struct Gate;

impl<T: Default> ErrorPolicy<T, Error> for Gate {
    type Captures<'unowned_env_local: 'native_method, 'native_method> = ();

    fn on_error<'unowned_env_local: 'native_method, 'native_method>(
        env: &mut Env<'unowned_env_local>,
        _captures: &mut Self::Captures<'unowned_env_local, 'native_method>,
        error: Error,
    ) -> jni::errors::Result<T> {
        throw(env, "java/lang/IllegalStateException", &error.to_string());
        Ok(T::default())
    }

    fn on_panic<'unowned_env_local: 'native_method, 'native_method>(
        env: &mut Env<'unowned_env_local>,
        _captures: &mut Self::Captures<'unowned_env_local, 'native_method>,
        _payload: Box<dyn Any + Send + 'static>,
    ) -> jni::errors::Result<T> {
        throw(env, "java/lang/RuntimeException", &panics::last());
        Ok(T::default())
    }
}

/// Throws an exception, unless one is pending.
fn throw(env: &mut Env<'_>, class: &str, message: &str) {
    if !env.exception_check() {
        // The error "an exception is pending" is expected here.
        let _ = env.throw_new(JNIString::new(class), JNIString::new(message));
    }
}
