// Declares a comment, in the shape of `CommentOnLines` in rust/companion-protocol.

package dev.companion.gemini.core

/** A comment on lines of a file. The server's JSON has these names. */
data class CommentOnLines(
    /** At most 64 bytes. */
    val id: String,
    val path: String,
    /** The first line, 1-based. */
    val line: Int,
    /** The last line. */
    val endLine: Int,
    /** The text of the lines, which helps the model to find them. */
    val content: String,
    val text: String,
) {
    /** Without the comment, because no log may contain it. */
    override fun toString() = "comment $id"
}
