// Owns what the library has for tests alone, when it is built with the feature `test-entry`.

package dev.companion.gemini.core

internal object TestEntry {
    /** Panics in Rust. */
    @JvmStatic
    external fun panic()

    /** Panics in a thread of Rust's. */
    @JvmStatic
    external fun panicInThread()
}
