// Writes all changes of a prompt as one text: a unified diff.

package dev.companion.gemini.changes

import com.intellij.openapi.project.Project
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.Hunk
import dev.companion.gemini.target.ShownPath
import java.nio.file.Paths

/** A line of a [PromptDiff]. */
internal class DiffLine(
    val text: String,
    val kind: Kind,
    /** The file; null for remarks. */
    val row: ChangeRow? = null,
    /** The part that the line belongs to. */
    val hunk: Hunk? = null,
    /** The number of the line in the file as the CLI left it, from 0. */
    val number: Int = 0,
) {
    enum class Kind { REMARK, FILE, HUNK, SAME, REMOVED, ADDED }

    /** The line's content in the file; null if it is not a line of a file. */
    val content: String? get() = if (kind >= Kind.SAME) text.substring(1) else null
}

/** Immutable. */
internal class PromptDiff private constructor(val lines: List<DiffLine>) {
    val text: String get() = lines.joinToString("\n") { it.text }

    /**
     * Returns the number of the line that shows a line of [earlier]. If its change is gone, returns that of its file, or
     * else of the first line: the next key must not revert another change.
     */
    fun find(earlier: PromptDiff, number: Int): Int {
        val line = earlier.lines.getOrNull(number)
        val path = line?.row?.path ?: return 0
        val found = lines.indexOfFirst {
            it.kind == DiffLine.Kind.HUNK && it.row?.path == path && isSame(it.hunk, line.hunk)
        }
        val offset = number - earlier.lines.indexOfFirst { it.hunk === line.hunk }
        if (found >= 0) return minOf(found + offset, lines.lastIndex)
        return maxOf(lines.indexOfFirst { it.row?.path == path }, 0)
    }

    /** A decision moves the later hunks in one text of the file: *Revert* in the present one, *Keep* in the other. */
    private fun isSame(one: Hunk?, other: Hunk?): Boolean {
        if (one == null || other == null) return false
        return (one.before == other.before || one.after == other.after) && one.lines == other.lines
    }

    /** Builds the text. Counts the lines beyond [MAX_LINES], and leaves them out. */
    private class Builder {
        val lines = ArrayList<DiffLine>()
        var leftOut = 0
            private set

        private fun add(line: DiffLine) {
            if (lines.size < MAX_LINES) lines += line else leftOut++
        }

        fun remark(text: String) {
            lines += DiffLine("# $text", DiffLine.Kind.REMARK)
        }

        fun file(row: ChangeRow, shownPath: String) {
            val words = listOfNotNull(shownPath, row.kindText, row.countsText, row.remark)
            add(DiffLine("", DiffLine.Kind.REMARK))
            add(DiffLine(words.joinToString("  "), DiffLine.Kind.FILE, row))
        }

        fun hunk(row: ChangeRow, hunk: Hunk) {
            var number = hunk.after - 1
            add(DiffLine(hunk.header, DiffLine.Kind.HUNK, row, hunk, number))
            for (line in hunk.lines) {
                val kind = KINDS.getValue(line.first())
                // A document has no other line ending than \n, and a byte order mark has no width.
                val content = line.drop(1).removeSuffix("\n").removeSuffix("\r").removePrefix("\uFEFF")
                for (part in content.split('\r')) {
                    add(DiffLine(line.take(1) + part, kind, row, hunk, number))
                }
                if (kind != DiffLine.Kind.REMOVED) number++
                if (!line.endsWith('\n')) add(DiffLine(NO_NEWLINE, DiffLine.Kind.REMARK, row, hunk, number))
            }
        }
    }

    companion object {
        private const val MAX_FILES = 200
        const val MAX_LINES = 100_000
        private const val NO_NEWLINE = "\\ No newline at end of file"
        private val KINDS =
            mapOf(' ' to DiffLine.Kind.SAME, '-' to DiffLine.Kind.REMOVED, '+' to DiffLine.Kind.ADDED)

        val EMPTY = PromptDiff(emptyList())

        /**
         * Reads the changes. [prompt] is null once it has left the list. Stops and
         * returns null once [isWanted] is false. Not for the EDT.
         */
        fun of(title: String, prompt: PromptChanges?, project: Project, isWanted: () -> Boolean): PromptDiff? {
            val builder = Builder()
            builder.remark(title)
            val rows = prompt?.rows.orEmpty()
            var shown = 0
            while (shown < minOf(rows.size, MAX_FILES) && builder.lines.size < MAX_LINES) {
                if (!isWanted()) return null
                val row = rows[shown++]
                builder.file(row, ShownPath.of(project, Paths.get(row.path)))
                if (row.isRevertible) row.hunks().orEmpty().forEach { builder.hunk(row, it) }
            }
            if (builder.leftOut > 0) builder.remark(message("changes.diff.more", builder.leftOut))
            val more = rows.size - shown + (prompt?.more ?: 0)
            if (more > 0) builder.remark(message("changes.more", more))
            if (prompt == null) builder.remark(message("changes.diff.gone"))
            return PromptDiff(builder.lines)
        }
    }
}
