//! Tests every order of inputs, which edits are denied, and the looks at files that clients are to write.

mod exhaustive;
mod rejections;
mod writes;
