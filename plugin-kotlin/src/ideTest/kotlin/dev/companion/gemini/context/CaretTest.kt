// Tests the line and the character of the caret.

package dev.companion.gemini.context

import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.LogicalPosition
import com.intellij.openapi.editor.VisualPosition
import com.intellij.openapi.editor.ex.util.EditorUtil
import com.intellij.testFramework.EditorTestUtil
import dev.companion.gemini.belowDialog
import javax.swing.SwingConstants

class CaretTest : ContextTestCase() {
    /** Opens a file with [text], moves the caret to the `|` in it, and returns the calls since then. */
    private fun caretIn(text: String, prepare: (Editor) -> Unit = {}): String {
        val offset = text.indexOf('|')
        val editor = edit(file("a.txt", text.removeRange(offset, offset + 1)))
        prepare(editor)
        forget()
        editor.caretModel.moveToOffset(offset)
        settle()
        return carets().single()
    }

    private fun carets() =
        calls.filter { it.startsWith("cursor ") }.map { it.removePrefix("cursor a.txt ").replace(' ', ':') }

    private fun type(editor: Editor, text: String) {
        WriteCommandAction.runWriteCommandAction(project) {
            EditorTestUtil.performTypingAction(editor, text.single())
        }
        settle()
    }

    fun `test lines and characters are counted from one`() {
        start()
        assertEquals("3:4", caretIn("one\ntwo\nthr|ee"))
    }

    fun `test a tab is one character, however wide it is`() {
        start()
        assertEquals("1:4", caretIn("\t\tx|"))
    }

    fun `test characters are counted as UTF-16 does`() {
        start()
        assertEquals("1:5", caretIn("a😀文|"))
    }

    fun `test the ends of Windows' lines do not count`() {
        start()
        val editor = edit(file("a.txt", "one\r\ntwo\r\n"))
        forget()
        editor.caretModel.moveToLogicalPosition(LogicalPosition(1, 1))
        settle()
        assertEquals(listOf("2:2"), carets())
    }

    fun `test folded lines count`() {
        start()
        val position = caretIn("one\ntwo\nthree\nfo|ur") { editor ->
            editor.foldingModel.runBatchFoldingOperation {
                checkNotNull(editor.foldingModel.addFoldRegion(0, 10, "...")).isExpanded = false
            }
            assertEquals(VisualPosition(1, 0), editor.offsetToVisualPosition(14))
        }
        assertEquals("4:3", position)
    }

    fun `test a line that is wrapped stays one line`() {
        start()
        val position = caretIn("word ".repeat(40) + "|end") { editor ->
            EditorTestUtil.configureSoftWraps(editor, 20)
            assertTrue("wrapped", editor.offsetToVisualPosition(200).line > 0)
        }
        assertEquals("1:201", position)
    }

    fun `test hints between the characters do not count`() {
        start()
        val position = caretIn("call(val|ue)") { editor ->
            EditorTestUtil.addInlay(editor, 5)
            assertTrue("shifted", editor.offsetToVisualPosition(8).column > 8)
        }
        assertEquals("1:9", position)
    }

    fun `test right of the end of a line is the end of the line`() {
        start()
        val editor = edit(file("a.txt", "one\ntwo"))
        editor.settings.isVirtualSpace = true
        forget()
        editor.caretModel.moveToLogicalPosition(LogicalPosition(0, 20))
        settle()
        assertEquals(20, editor.caretModel.logicalPosition.column)
        assertEquals(listOf("1:4"), carets())
    }

    fun `test an empty file has a caret, too`() {
        start()
        show(file("a.txt"))
        assertEquals(listOf("1:1"), carets())
    }

    fun `test the caret follows what is typed`() {
        start()
        val editor = edit(file("a.txt", "one"))
        editor.caretModel.moveToOffset(3)
        forget()
        type(editor, "s")
        assertEquals(listOf("1:5"), carets())
    }

    fun `test indenting with spaces in place of tabs moves the caret, though it stays where it was on the screen`() {
        start()
        val editor = edit(file("a.txt", "\tx"))
        editor.caretModel.moveToOffset(2)
        val column = editor.caretModel.logicalPosition
        forget()
        val tab = " ".repeat(EditorUtil.getTabSize(editor))
        WriteCommandAction.runWriteCommandAction(project) { editor.document.replaceString(0, 1, tab) }
        settle()
        assertEquals(column, editor.caretModel.logicalPosition)
        assertEquals(listOf("1:${tab.length + 2}"), carets())
    }

    fun `test of several carets the primary one counts`() {
        start()
        val editor = edit(file("a.txt", "one\ntwo\nthree"))
        val carets = editor.caretModel
        forget()
        val second = checkNotNull(carets.addCaret(VisualPosition(1, 1)))
        settle()
        assertEquals(second, carets.primaryCaret)
        assertEquals("2:2", carets().last())

        forget()
        checkNotNull(carets.addCaret(VisualPosition(2, 2), false))
        settle()
        assertEquals("2:2", carets().last())

        forget()
        carets.removeCaret(second)
        settle()
        val left = carets.primaryCaret.logicalPosition
        assertEquals("${left.line + 1}:${left.column + 1}", carets().last())
    }

    fun `test carets that meet become one`() {
        start()
        val editor = edit(file("a.txt", "one\ntwo"))
        val carets = editor.caretModel
        carets.moveToOffset(1)
        checkNotNull(carets.addCaret(VisualPosition(0, 3)))
        forget()
        carets.runForEachCaret { it.moveToOffset(5) }
        settle()
        assertEquals(1, carets.caretCount)
        assertEquals("2:2", carets().last())
    }

    fun `test typing with hundreds of carets reports the caret and the selection once`() {
        start()
        val editor = edit(file("a.txt", "x\n".repeat(300)))
        for (line in 1 until 300) editor.caretModel.addCaret(VisualPosition(line, 0))
        forget()
        type(editor, "y")
        assertEquals(300, editor.caretModel.caretCount)
        assertEquals(listOf("300:2"), carets())
        assertSize(2, core.calls)
    }

    fun `test a caret that moves in a dialog is reported while the dialog is open`() {
        start()
        val editor = edit(file("a.txt", "text"))
        forget()
        editor.caretModel.moveToOffset(1)
        belowDialog {
            settle()
            editor.caretModel.moveToOffset(3)
            settle()
            assertEquals(listOf("1:4"), carets())
        }
    }

    fun `test what happens in a file that has not the focus is not reported`() {
        start()
        val background = edit(file("background.txt", "text"))
        show(file("a.txt"))
        forget()
        background.caretModel.moveToOffset(2)
        background.selectionModel.setSelection(0, 2)
        WriteCommandAction.runWriteCommandAction(project) { background.document.insertString(0, "x") }
        settle()
        assertEmpty(core.calls)
    }

    fun `test of two splits the selected one counts`() {
        val file = file("a.txt", "one\ntwo")
        start()
        val left = edit(file)
        left.caretModel.moveToOffset(1)
        val leftWindow = myManager.windows.single()
        val rightWindow = checkNotNull(leftWindow.split(SwingConstants.VERTICAL, true, file, true))
        myManager.currentWindow = rightWindow
        settle()
        val right = checkNotNull(myManager.selectedTextEditor)
        assertNotSame(left, right)
        forget()

        left.caretModel.moveToOffset(2)
        settle()
        assertEmpty(carets())

        right.caretModel.moveToOffset(5)
        settle()
        assertEquals(listOf("2:2"), carets())

        forget()
        myManager.currentWindow = leftWindow
        settle()
        assertEquals(listOf("focused a.txt", "cursor a.txt 1 3", "selection a.txt ''"), calls)
    }
}
