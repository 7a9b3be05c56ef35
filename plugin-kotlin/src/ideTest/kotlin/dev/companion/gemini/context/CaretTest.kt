// Tests the line and the character of the caret.

package dev.companion.gemini.context

import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.components.impl.ComponentManagerImpl
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.VisualPosition
import com.intellij.openapi.editor.ex.util.EditorUtil
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.impl.FileEditorManagerImpl
import com.intellij.testFramework.EditorTestUtil
import com.intellij.ui.docking.DockManager
import dev.companion.gemini.belowDialog
import javax.swing.SwingConstants

class CaretTest : ContextTestCase() {
    private fun cursors() = calls.filter { it.startsWith("cursor ") }

    private fun carets() = cursors().map { it.removePrefix("cursor a.txt ").replace(' ', ':') }

    private fun type(editor: Editor, text: String) {
        WriteCommandAction.runWriteCommandAction(project) {
            EditorTestUtil.performTypingAction(editor, text.single())
        }
        settle()
    }

    fun `test lines and characters are counted from one, as UTF-16 does`() {
        val expected = mapOf("one\ntwo\nthr|ee" to "3:4", "\t\tx|" to "1:4", "a😀文|" to "1:5", "|" to "1:1")
        start()
        for ((index, text) in expected.keys.withIndex()) {
            val offset = text.indexOf('|')
            val editor = edit(file("$index.txt", text.removeRange(offset, offset + 1)))
            editor.caretModel.moveToOffset(offset)
            settle()
            assertEquals(text, "cursor $index.txt ${expected.getValue(text).replace(':', ' ')}", cursors().last())
            forget()
        }
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
            assertEquals(listOf("1:2", "1:4"), carets())
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

    fun `test a window of its own counts once its caret moves`() {
        start()
        val editor = edit(file("b.txt", "one\ntwo"))
        show(file("a.txt"))
        forget()
        focusWithoutEvent(editor)
        editor.selectionModel.setSelection(4, 7)
        editor.caretModel.moveToOffset(5)
        settle()
        assertEquals(listOf("focused b.txt", "cursor b.txt 2 2", "selection b.txt 'two'"), calls)
    }

    /** Gives [editor] the focus, as today's platform does in a window of its own. */
    private fun focusWithoutEvent(editor: Editor) {
        val manager = object : FileEditorManagerImpl(project, DockManager.getInstance(project)) {
            override fun getSelectedTextEditor() = editor
        }
        (project as ComponentManagerImpl).registerComponentInstance(FileEditorManager::class.java, manager)
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
