//! Tests every order of inputs.

mod exhaustive;
