// Maps the lines of the unified viewer to a proposal.

package dev.companion.gemini.tabs

import com.intellij.diff.fragments.LineFragment
import com.intellij.openapi.editor.Document

/** The unified viewer shows both sides in one text, with the removed lines of each change above its added ones. */
internal class UnifiedLines private constructor(private val blocks: List<Block>) {
    private class Block(
        val change: LineFragment,
        val start: Int,
    ) {
        val added = start + change.endLine1 - change.startLine1
        val end = added + change.endLine2 - change.startLine2
    }

    fun changeAt(line: Int): LineFragment? = blocks.find { line in it.start until it.end }?.change

    /** The first line of the next change below [line]; null below the last one. */
    fun next(line: Int): Int? = blocks.map { it.start }.find { it > line }

    /** Returns where a line of the proposal is. */
    fun ofProposal(line: Int): Int {
        val above = blocks.lastOrNull { it.change.startLine2 <= line } ?: return line
        return line - above.change.startLine2 + above.added
    }

    /** Returns the lines of the proposal; null if all of [lines] are removed ones. */
    fun inProposal(lines: IntRange): IntRange? {
        val first = lines.firstNotNullOfOrNull(::inProposal) ?: return null
        return first..lines.reversed().firstNotNullOf(::inProposal)
    }

    private fun inProposal(line: Int): Int? {
        val above = blocks.lastOrNull { it.start <= line } ?: return line
        return (line - above.added + above.change.startLine2).takeIf { line >= above.added }
    }

    companion object {
        /** Returns null if [shown] does not have these changes, such as when it ignores whitespace. */
        fun of(changes: List<LineFragment>, shown: Document, file: Document, proposal: Document): UnifiedLines? {
            val blocks = ArrayList<Block>()
            for (change in changes) {
                val above = blocks.lastOrNull()
                val equal = change.startLine2 - (above?.change?.endLine2 ?: 0)
                blocks += Block(change, (above?.end ?: 0) + equal)
            }
            val isSame = blocks.all { block ->
                val (removed, added) = Pair(block.added - block.start, block.end - block.added)
                (removed == 0 || isSameLine(shown, block.start, file, block.change.startLine1)) &&
                    (added == 0 || isSameLine(shown, block.added, proposal, block.change.startLine2))
            }
            return if (isSame) UnifiedLines(blocks) else null
        }

        private fun isSameLine(shown: Document, line: Int, side: Document, lineOfSide: Int): Boolean {
            if (line >= shown.lineCount) return false
            return text(shown, line).contentEquals(text(side, lineOfSide))
        }

        private fun text(document: Document, line: Int): CharSequence {
            val end = document.getLineEndOffset(line)
            return document.immutableCharSequence.subSequence(document.getLineStartOffset(line), end)
        }
    }
}
