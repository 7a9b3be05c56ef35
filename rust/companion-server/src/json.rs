//! Where long JSON is written to.

/// A buffer for JSON with texts of `size` bytes, of which few are escaped. A buffer of megabytes
/// that grows as it is written costs twice the writing, in pages of memory that are new.
pub(crate) fn buffer(size: usize) -> Vec<u8> {
    Vec::with_capacity(size + size / 8 + 256)
}
