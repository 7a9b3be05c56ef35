// Finds and counts the lines that a proposal adds and removes.

package dev.companion.gemini.tabs

import com.intellij.diff.comparison.ComparisonManager
import com.intellij.diff.comparison.ComparisonPolicy
import com.intellij.diff.comparison.DiffTooBigException
import com.intellij.diff.fragments.LineFragment
import com.intellij.diff.util.DiffUtil
import com.intellij.openapi.editor.Document
import com.intellij.openapi.progress.DumbProgressIndicator
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.assertNotEdt

/** The changes from [current], the text of the file, to [proposed]. */
internal class LineChanges private constructor(
    private val current: CharSequence,
    private val proposed: CharSequence,
    val fragments: List<LineFragment>,
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

    /** The first line of the proposal's next change below [line]; null below the last one. */
    fun next(line: Int): Int? = fragments.map { it.startLine2 }.find { it > line }

    /**
     * Restores the file's lines for one change. [file] and [document] are the compared texts. Call it in a write
     * command.
     */
    fun revert(change: LineFragment, file: Document, document: Document) =
        DiffUtil.applyModification(
            document,
            change.startLine2,
            change.endLine2,
            file,
            change.startLine1,
            change.endLine1,
        )

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
