// Tests the drafts of comments, and the search for lost lines.

package dev.companion.gemini.comments

import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.EditorFactory
import com.intellij.testFramework.LightPlatformTestCase
import dev.companion.gemini.core.CommentOnLines
import dev.companion.gemini.offEdt

class CommentDraftsTest : LightPlatformTestCase() {
    private val drafts by lazy { CommentDrafts(getProject(), follow = { it.document }, isPending = { true }) }
    private val document by lazy { document("one\ntwo\nthree\nfour\n") }

    private fun document(text: String) = EditorFactory.getInstance().createDocument(text)

    private fun place(lines: IntRange, path: String = "/a", document: Document = this.document) =
        CommentPlace(document, path, false, lines)

    fun `test a text that was not sent is there again`() {
        drafts.at(place(1..1), null).text = "why"
        assertEquals("why", drafts.at(place(1..1), null).text)
        assertEquals("", drafts.at(place(0..0), null).text)
        val other = place(1..1, path = "/b", document = document("one\ntwo\n"))
        assertEquals("another file", "", drafts.at(other, null).text)
        assertEquals("it has been renamed", "why", drafts.at(place(1..1, path = "/c"), null).text)
    }

    fun `test a draft that was sent is gone`() {
        val draft = drafts.at(place(1..1), null)
        drafts.forget(draft)
        assertNotSame(draft, drafts.at(place(1..1), null))
    }

    private fun find(text: String, content: String, count: Int, line: Int): Int? {
        val comment = CommentOnLines("id", "/a", line + 1, line + count, content, "why")
        return offEdt { LineContent.find(document(text), comment) }?.first
    }

    fun `test the nearest lines with the content are found`() {
        val text = "a b\n\n  a\tb \nc\na b\n"
        assertEquals(2, find(text, "a b", 1, 2))
        assertEquals(4, find(text, "a b", 1, 9))
        assertEquals(0, find(text, "a b", 1, -3))
        assertEquals(2, find(text, "a b c", 2, 0))
        assertNull(find(text, "a", 1, 0))
        assertNull(find(text, "a b c d", 2, 0))
        assertEquals("blank lines stay in place", 1, find(text, "", 1, 1))
        assertNull(find(text, "", 1, 0))
        assertNull(find("", "a", 1, 0))
    }

    fun `test a content is found as it was read`() {
        val long = "x".repeat(499) + "\uD83D\uDE00 end"
        for (text in listOf(long, "\u00a0 one\u0007two\u2003three ", "a".repeat(499) + "  b", "\r\none")) {
            val document = document(text.replace("\r", ""))
            val content = LineContent.of(document, 0 until document.lineCount)
            assertEquals(content, 0, find(document.text, content, document.lineCount, 0))
        }
        assertEquals(499, LineContent.of(document(long), 0..0).length)
        assertEquals("one two three", LineContent.oneLine("\u00a0 one\u0007two\u2003three "))
    }
}
