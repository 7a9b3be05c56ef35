// Declares a part of a file's change, in the shape of `Hunk` in rust/companion-protocol.

package dev.companion.gemini.core

/** A run of changed lines with the lines around it, as in a unified diff. */
data class Hunk(
    /** The number of its first line in the text before the prompt, from 1. */
    val before: Int = 1,
    /** The number of its first line in the text as the CLI left it, from 1. */
    val after: Int = 1,
    /** Its lines, each after a space, `-` or `+`, and with its line ending. */
    val lines: List<String> = emptyList(),
    /** As in a unified diff. */
    val header: String = "",
) {
    /** Without the lines, because no log may contain them. */
    override fun toString() = "${lines.size} lines at $after"
}

class Hunks(val hunks: List<Hunk>)
