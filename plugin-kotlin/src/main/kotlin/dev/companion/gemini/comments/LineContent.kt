// Reads the content of commented lines, and finds lines by their content.

package dev.companion.gemini.comments

import com.intellij.openapi.editor.Document
import dev.companion.gemini.core.assertNotEdt

/** Lines are 0-based. */
internal object LineContent {
    /** The longest content, in UTF-16 units, as in the server. */
    private const val MAX_CONTENT = 500

    /** The longest text from which a content is taken. */
    private const val MAX_READ = 16 * MAX_CONTENT

    /** Returns the text of [lines] in one line with single spaces. On the EDT or in a read action. */
    fun of(document: Document, lines: IntRange): String {
        val (start, end) = Pair(document.getLineStartOffset(lines.first), document.getLineEndOffset(lines.last))
        return of(document.immutableCharSequence, start, end)
    }

    private fun of(text: CharSequence, start: Int, end: Int): String {
        val content = oneLine(text.subSequence(start, minOf(end, start + MAX_READ)), MAX_CONTENT)
        // Half a surrogate pair is left out.
        return if (content.lastOrNull()?.isHighSurrogate() == true) content.dropLast(1) else content
    }

    /** Returns at most [most] UTF-16 units of [text], with single spaces and without those at its ends. */
    fun oneLine(text: CharSequence, most: Int = Int.MAX_VALUE): String {
        val line = StringBuilder()
        var isBlank = false
        for (char in text) {
            if (isBlank(char)) {
                isBlank = line.isNotEmpty()
                continue
            }
            if (isBlank && line.length < most) line.append(' ')
            isBlank = false
            if (line.length >= most) break
            line.append(char)
        }
        return line.toString()
    }

    private fun isBlank(char: Char) = char.isWhitespace() || Character.isSpaceChar(char) || Character.isISOControl(char)

    /** Returns the first line of the [count] lines with [content] that are nearest to [line]. Not for the EDT. */
    fun find(text: LinesOfText, content: String, count: Int, line: Int): Int? {
        assertNotEdt()
        val last = text.count - count
        // A content of blank lines is only found in its place.
        if (content.isEmpty()) return line.takeIf { it in 0..last && text.content(it, count).isEmpty() }
        for (distance in 0..maxOf(line, last - line)) {
            for (start in setOf(line - distance, line + distance)) {
                if (start in 0..last && text.mayBegin(start, count, content) && text.content(start, count) == content) {
                    return start
                }
            }
        }
        return null
    }

    /** The lines of a text that does not change. */
    class LinesOfText(private val text: String) {
        private val starts = ArrayList<Int>().apply {
            add(0)
            for (offset in text.indices) if (text[offset] == '\n') add(offset + 1)
        }

        val count: Int get() = starts.size

        private fun end(line: Int) = if (line + 1 < count) starts[line + 1] - 1 else text.length

        fun content(start: Int, count: Int): String = of(text, starts[start], end(start + count - 1))

        /** Compares the first characters, because most lines differ there. */
        fun mayBegin(start: Int, count: Int, content: String): Boolean {
            val end = end(start + count - 1)
            var offset = starts[start]
            while (offset < end && isBlank(text[offset])) offset++
            for (char in content) {
                if (char == ' ') return true
                if (offset >= end || text[offset++] != char) return false
            }
            return true
        }
    }
}
