// Names the lines of a comment in a document.

package dev.companion.gemini.comments

import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.RangeMarker
import java.nio.file.Path

internal class CommentPlace(
    val document: Document,
    /** The path of the file, or of the proposal, for the server. */
    val path: String,
    /** The file, or the file of the proposal, as the user has opened it. */
    val file: Path,
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
        return CommentPlace(document, path, file, inProposal, minOf(lines.first, last)..minOf(lines.last, last))
    }
}
