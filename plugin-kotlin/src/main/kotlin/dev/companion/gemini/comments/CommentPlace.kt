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

    /** Returns the place of [marker]; if its lines have been deleted, the nearest lines. */
    fun at(marker: RangeMarker): CommentPlace {
        val last = maxOf(document.lineCount - 1, 0)
        val lines = Comment.linesOf(marker) ?: minOf(lines.first, last)..minOf(lines.last, last)
        return CommentPlace(document, path, inProposal, lines)
    }
}
