// Tests the reported selection.

package dev.companion.gemini.context

import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.VisualPosition
import com.intellij.openapi.vfs.VfsUtilCore
import com.intellij.testFramework.EditorTestUtil
import com.sun.management.ThreadMXBean
import dev.companion.gemini.core.MAX_SELECTION
import java.lang.management.ManagementFactory

class SelectionTest : ContextTestCase() {
    private fun open(text: String): Editor {
        val editor = edit(file("a.txt", text))
        forget()
        return editor
    }

    /** Returns the selections that were sent since the last call. */
    private fun selected(): String {
        settle()
        val selections = calls.filter { it.startsWith("selection a.txt ") }
        core.forget()
        return selections.last().removePrefix("selection a.txt '").removeSuffix("'")
    }

    fun `test a selection is reported, and so is its end`() {
        start()
        val selection = open("one two three").selectionModel
        selection.setSelection(4, 7)
        assertEquals("two", selected())
        selection.setSelection(4, 13)
        assertEquals("two three", selected())
        selection.removeSelection()
        assertEquals("", selected())
    }

    fun `test a selection over several lines has their ends`() {
        start()
        open("one\r\ntwo\r\nthree").selectionModel.setSelection(2, 9)
        assertEquals("e\ntwo\nt", selected())
    }

    fun `test of several selections that of the primary caret counts`() {
        start()
        val editor = open("one\ntwo")
        editor.selectionModel.setSelection(0, 3)
        assertEquals("one", selected())
        val second = checkNotNull(editor.caretModel.addCaret(VisualPosition(1, 0)))
        assertEquals("", selected())
        second.setSelection(4, 6)
        assertEquals("tw", selected())
        editor.caretModel.removeCaret(second)
        assertEquals("one", selected())
    }

    fun `test a long selection is cut at the limit`() {
        start()
        val editor = open("0123456789".repeat(MAX_SELECTION))
        editor.selectionModel.setSelection(5, editor.document.textLength)
        assertEquals(editor.document.text.substring(5, 5 + MAX_SELECTION), selected())
        editor.selectionModel.setSelection(5, 5 + MAX_SELECTION)
        assertEquals(editor.document.text.substring(5, 5 + MAX_SELECTION), selected())
    }

    fun `test a long selection does not end in half a character`() {
        start()
        val editor = open("x" + "😀".repeat(MAX_SELECTION))
        editor.selectionModel.setSelection(0, editor.document.textLength)
        assertEquals("x" + "😀".repeat((MAX_SELECTION - 1) / 2), selected())
        editor.selectionModel.setSelection(1, editor.document.textLength)
        assertEquals("😀".repeat(MAX_SELECTION / 2), selected())
    }

    fun `test selecting a whole large file copies no more than is sent`() {
        start()
        val editor = open("a line of fifty characters, one of very many of it\n".repeat(100_000))
        editor.selectionModel.setSelection(0, 10)
        settle()
        val thread = ManagementFactory.getThreadMXBean() as ThreadMXBean
        val before = thread.getThreadAllocatedBytes(Thread.currentThread().id)
        editor.selectionModel.setSelection(1, editor.document.textLength)
        settle()
        val allocated = thread.getThreadAllocatedBytes(Thread.currentThread().id) - before
        assertTrue("$allocated bytes of ${editor.document.textLength}", allocated < 1_000_000)
        assertEquals(MAX_SELECTION, selected().length)
    }

    fun `test the text of a selection is sent again when it changes, though the same place is selected`() {
        start()
        val editor = open("one two three")
        editor.selectionModel.setSelection(4, 7)
        assertEquals("two", selected())
        EditorTestUtil.executeAction(editor, "EditorToggleCase")
        assertEquals("one TWO three", editor.document.text)
        assertEquals("TWO", selected())
    }

    fun `test the text of a selection is sent again when another program has changed the file`() {
        start()
        val file = file("a.txt", "one two three")
        val editor = edit(file)
        editor.selectionModel.setSelection(4, 7)
        assertEquals("two", selected())
        VfsUtilCore.virtualToIoFile(file).writeText("one 222 three")
        refresh(file)
        assertEquals("one 222 three", editor.document.text)
        val (start, end) = editor.selectionModel.run { selectionStart to selectionEnd }
        assertEquals(editor.document.text.substring(start, end), selected())
    }

    fun `test typing over a selection clears it`() {
        start()
        val editor = open("one two")
        editor.selectionModel.setSelection(4, 7)
        assertEquals("two", selected())
        WriteCommandAction.runWriteCommandAction(project) { EditorTestUtil.performTypingAction(editor, 'x') }
        assertEquals("one x", editor.document.text)
        assertEquals("", selected())
    }
}
