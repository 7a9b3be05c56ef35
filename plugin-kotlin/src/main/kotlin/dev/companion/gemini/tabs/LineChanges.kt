// Finds and counts the lines that a proposal adds and removes.

package dev.companion.gemini.tabs

import com.intellij.diff.comparison.ComparisonManager
import com.intellij.diff.comparison.ComparisonPolicy
import com.intellij.diff.comparison.DiffTooBigException
import com.intellij.diff.fragments.LineFragment
import com.intellij.openapi.editor.Document
import com.intellij.openapi.progress.DumbProgressIndicator
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.assertNotEdt

/** The changes from [current], the text of the file, to [proposed]. */
internal class LineChanges private constructor(
    private val current: CharSequence,
    private val proposed: CharSequence,
    private val fragments: List<LineFragment>,
) {
    /** 0 for an empty text: the platform counts one line in it, but a user counts none. */
    private val added = if (proposed.isEmpty()) 0 else fragments.sumOf { it.endLine2 - it.startLine2 }
    private val removed = if (current.isEmpty()) 0 else fragments.sumOf { it.endLine1 - it.startLine1 }

    /** For the user: "+12 −3". */
    val summary: String get() = CompanionBundle.message("diff.lines", added, removed)

    /** Whether both texts are unchanged since the comparison. */
    fun isOf(current: CharSequence, proposed: CharSequence) = this.current === current && this.proposed === proposed

    /**
     * Returns the change at a line of the file, or of the proposal with [inProposal]. The line after a deletion has
     * that change.
     */
    fun at(line: Int, inProposal: Boolean): LineFragment? =
        fragments.find {
            val (start, end) = if (inProposal) Pair(it.startLine2, it.endLine2) else Pair(it.startLine1, it.endLine1)
            line in start until maxOf(end, start + 1)
        } ?: fragments.lastOrNull { inProposal && it.startLine2 == it.endLine2 && it.startLine2 == line + 1 }

    /** Maps the lines of [shown], a unified viewer's text; null if it has other changes. */
    fun unified(shown: Document, file: Document, proposal: Document): UnifiedLines? =
        UnifiedLines.of(fragments, shown, file, proposal)

    /** The first line of the proposal's next change below [line]; null below the last one. */
    fun next(line: Int): Int? = fragments.map { it.startLine2 }.find { it > line }

    /**
     * Restores the file's lines for one change. [file] and [document] are the compared texts. Call it in a write
     * command.
     */
    fun revert(change: LineFragment, file: Document, document: Document) {
        val (start, end) = Pair(change.startLine2, change.endLine2)
        val lines = (change.startLine1 until change.endLine1).map { line ->
            file.immutableCharSequence.subSequence(file.getLineStartOffset(line), file.getLineEndOffset(line))
        }
        val text = lines.joinToString("\n")
        // The platform counts one line in an empty text, but its document none.
        val isLast = end >= maxOf(document.lineCount, 1)
        when {
            lines.isEmpty() && !isLast -> {
                document.replaceString(document.getLineStartOffset(start), document.getLineStartOffset(end), "")
            }

            lines.isEmpty() -> {
                val from = if (start > 0) document.getLineEndOffset(start - 1) else 0
                document.replaceString(from, document.textLength, "")
            }

            start < end -> {
                document.replaceString(document.getLineStartOffset(start), document.getLineEndOffset(end - 1), text)
            }

            isLast -> {
                document.replaceString(document.textLength, document.textLength, "\n$text")
            }

            else -> {
                val at = document.getLineStartOffset(start)
                document.replaceString(at, at, "$text\n")
            }
        }
    }

    companion object {
        /** Compares the texts. Null if they are too large for the platform. Not for the EDT. */
        fun between(current: CharSequence, proposed: CharSequence): LineChanges? {
            assertNotEdt()
            return try {
                val manager = ComparisonManager.getInstance()
                val indicator = DumbProgressIndicator.INSTANCE
                val fragments = manager.compareLines(current, proposed, ComparisonPolicy.DEFAULT, indicator)
                LineChanges(current, proposed, fragments)
            } catch (_: DiffTooBigException) {
                null
            }
        }
    }
}
