// Tests reverting single changes, and moving from the last change to the next proposal.

package dev.companion.gemini.tabs

import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.actionSystem.PlatformDataKeys
import com.intellij.openapi.command.undo.UndoManager
import com.intellij.openapi.editor.LogicalPosition
import com.intellij.openapi.fileEditor.impl.text.TextEditorProvider
import dev.companion.gemini.eventOn
import dev.companion.gemini.review.DiffTestCase

class ChangeActionTest : DiffTestCase() {
    private val revert: AnAction get() = ActionManager.getInstance().getAction("Companion.RevertChange")

    private fun event(action: AnAction, view: View): AnActionEvent =
        action.eventOn(
            CommonDataKeys.PROJECT to project,
            CommonDataKeys.EDITOR to view.right,
            PlatformDataKeys.CONTEXT_COMPONENT to view.right.contentComponent,
        )

    private fun revertAt(view: View, line: Int): Boolean {
        view.right.caretModel.moveToLogicalPosition(LogicalPosition(line, 0))
        val event = event(revert, view)
        if (event.presentation.isEnabled) revert.actionPerformed(event)
        return event.presentation.isEnabled
    }

    fun `test the change at the caret is reverted, and that can be undone`() {
        file("a.txt", "one\ntwo\nthree\nfour\n")
        val view = propose("a.txt", "ONE\ntwo\nTHREE\nfour\n")
        assertFalse("there is no change", revertAt(view, 1))
        assertTrue(revertAt(view, 2))
        assertEquals("ONE\ntwo\nthree\nfour\n", text(view.right))
        val editor = TextEditorProvider.getInstance().getTextEditor(view.right)
        UndoManager.getInstance(project).undo(editor)
        assertEquals("ONE\ntwo\nTHREE\nfour\n", text(view.right))
    }

    fun `test each kind of change is reverted`() {
        val text = "one\ntwo\nthree"
        file("a.txt", text)
        for ((proposed, line) in listOf(
            "zero\none\ntwo\nthree" to 0,
            "one\nthree" to 1,
            "one\ntwo\nthree\nfour" to 3,
            "one\ntwo" to 1,
            "two\nthree" to 0,
            "" to 0,
        )) {
            val view = propose("a.txt", proposed)
            assertTrue(proposed, revertAt(view, line))
            assertEquals(proposed, text, text(view.right))
        }
    }

    fun `test a deletion at the end is reverted`() {
        file("a.txt", "one\ntwo\n")
        val view = propose("a.txt", "one\n")
        assertTrue(revertAt(view, 0))
        assertEquals("one\ntwo\n", text(view.right))
    }
}
