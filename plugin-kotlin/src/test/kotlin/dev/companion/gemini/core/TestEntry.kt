// Declares the natives of the feature `test-entry`.

package dev.companion.gemini.core

internal object TestEntry {
    /** Panics in Rust. */
    @JvmStatic
    external fun panic()

    /** Panics in a thread of Rust's. */
    @JvmStatic
    external fun panicInThread()
}
