// Names the lines of a comment in a document.

package dev.companion.gemini.comments

import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.RangeMarker

internal class CommentPlace(
    val document: Document,
    /** The file, or the file of the proposal. */
    val path: String,
    val inProposal: Boolean,
    /** 0-based. */
    val lines: IntRange,
) {
    /** Follows the lines while the user writes. */
    fun mark(): RangeMarker =
        document.createRangeMarker(
            document.getLineStartOffset(lines.first),
            document.getLineEndOffset(lines.last),
        )

    /** Returns the place of these lines, or of the nearest ones. */
    fun at(lines: IntRange): CommentPlace {
        val last = maxOf(document.lineCount - 1, 0)
        return CommentPlace(document, path, inProposal, minOf(lines.first, last)..minOf(lines.last, last))
    }
}
