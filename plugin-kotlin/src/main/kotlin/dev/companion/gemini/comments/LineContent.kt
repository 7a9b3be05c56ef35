// Reads the content of commented lines, and finds lines by their content.

package dev.companion.gemini.comments

import com.intellij.openapi.editor.Document
import kotlin.math.abs

/** Lines are 0-based. Call it on the EDT or in a read action. */
internal object LineContent {
    /** The longest content, in UTF-16 units, as in the server. */
    private const val MAX_CONTENT = 500

    /** The longest text from which a content is taken. */
    private const val MAX_READ = 16 * MAX_CONTENT

    private val BLANK = Regex("[\\s\\p{Z}\\p{Cc}]+")

    /** Returns the text of [lines] in one line with single spaces. */
    fun of(document: Document, lines: IntRange): String {
        val start = document.getLineStartOffset(lines.first)
        val end = minOf(document.getLineEndOffset(lines.last), start + MAX_READ)
        return cut(oneLine(document.immutableCharSequence.subSequence(start, end)))
    }

    fun oneLine(text: CharSequence): String = text.replace(BLANK, " ").trim()

    /** Does not leave half a surrogate pair. */
    private fun cut(text: String): String {
        val cut = text.take(MAX_CONTENT)
        return if (cut.lastOrNull()?.isHighSurrogate() == true) cut.dropLast(1) else cut
    }

    /** Returns the [count] lines with [content] that are nearest to [line]. An empty content is only found there. */
    fun find(document: Document, content: String, count: Int, line: Int): IntRange? {
        val starts = 0..document.lineCount - count
        val found = { start: Int -> start in starts && of(document, start until start + count) == content }
        if (content.isEmpty()) return (line until line + count).takeIf { found(line) }
        val start = starts.sortedBy { abs(it - line) }.firstOrNull(found) ?: return null
        return start until start + count
    }
}
