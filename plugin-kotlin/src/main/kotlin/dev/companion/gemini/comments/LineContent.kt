// Reads the content of commented lines, and finds lines by their content.

package dev.companion.gemini.comments

import com.intellij.openapi.editor.Document
import dev.companion.gemini.core.CommentOnLines
import dev.companion.gemini.core.assertNotEdt

/** Lines are 0-based. */
internal object LineContent {
    /** The longest content, in UTF-16 units, as in the server. */
    private const val MAX_CONTENT = 500

    /** The longest text from which a content is taken. */
    private const val MAX_READ = 16 * MAX_CONTENT

    /** How far a search goes, in each direction. */
    private const val SEARCHED_LINES = 10_000

    private val BLANKS = Regex("[\\p{Z}\\p{Cc}]+")

    /** Returns the text of [lines] in one line with single spaces. On the EDT or in a read action. */
    fun of(document: Document, lines: IntRange): String {
        val start = document.getLineStartOffset(lines.first)
        val end = minOf(document.getLineEndOffset(lines.last), start + MAX_READ)
        val content = oneLine(document.immutableCharSequence.subSequence(start, end)).take(MAX_CONTENT)
        // Half a surrogate pair is left out.
        return if (content.lastOrNull()?.isHighSurrogate() == true) content.dropLast(1) else content
    }

    /** Returns [text] with single spaces, and without those at its ends. */
    fun oneLine(text: CharSequence): String = text.replace(BLANKS, " ").trim(' ')

    /**
     * Returns the [count] lines at an end of [lines] that have [content]: a mark also grows to new lines that begin or
     * end like its own. Returns [lines] if it has not grown, or between its own, or if [content] may have been cut.
     */
    fun own(document: Document, lines: IntRange, content: String, count: Int): IntRange {
        if (lines.count() <= count || content.length >= MAX_CONTENT - 1) return lines
        val ends = listOf(lines.last - count + 1..lines.last, lines.first until lines.first + count)
        return ends.find { of(document, it) == content } ?: lines
    }

    /**
     * Returns the lines with the content of [comment] that are nearest to its own; null if there are none. For many
     * comments that takes long, so not on the EDT. [document] must not change meanwhile.
     */
    fun find(document: Document, comment: CommentOnLines): IntRange? {
        assertNotEdt()
        val (content, line, count) = Triple(comment.content, comment.line - 1, comment.endLine - comment.line + 1)
        val starts = 0..document.lineCount - count
        val words = content.split(' ')
        // A content of blank lines is only found in its place.
        val searched = if (content.isEmpty()) 0 else SEARCHED_LINES
        for (distance in 0..searched) {
            for (start in listOf(line - distance, line + distance)) {
                val lines = start until start + count
                if (start in starts && beginWith(words, document, lines) && of(document, lines) == content) return lines
            }
        }
        return null
    }

    private fun beginWith(words: List<String>, document: Document, lines: IntRange): Boolean {
        val text = document.immutableCharSequence
        var offset = document.getLineStartOffset(lines.first)
        val end = minOf(document.getLineEndOffset(lines.last), offset + MAX_READ)
        for (word in words) {
            while (offset < end && (text[offset].isWhitespace() || text[offset].isISOControl())) offset++
            if (!text.startsWith(word, offset)) return false
            offset += word.length
        }
        return true
    }
}
