//! Tests every order of inputs, and the looks at files that clients are to write.

mod exhaustive;
mod writes;
