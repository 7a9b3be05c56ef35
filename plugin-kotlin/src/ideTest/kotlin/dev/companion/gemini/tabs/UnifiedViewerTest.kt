// Tests a proposal in the unified viewer, whose editor has both sides in a text of its own.

package dev.companion.gemini.tabs

import com.intellij.diff.impl.DiffSettingsHolder
import com.intellij.diff.tools.fragmented.UnifiedDiffTool
import com.intellij.diff.tools.fragmented.UnifiedDiffViewer
import com.intellij.diff.tools.util.DiffDataKeys
import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.actionSystem.DataProvider
import com.intellij.openapi.actionSystem.PlatformDataKeys
import com.intellij.openapi.actionSystem.ex.ActionUtil
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.LogicalPosition
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.awaitGone
import dev.companion.gemini.comments.CommentService
import dev.companion.gemini.eventOn
import dev.companion.gemini.review.DiffTestCase
import dev.companion.gemini.review.NextChangeAction

class UnifiedViewerTest : DiffTestCase() {
    private val settings get() = DiffSettingsHolder.DiffSettings.getSettings()
    private lateinit var former: List<String>

    override fun setUp() {
        super.setUp()
        former = settings.diffToolsOrder
        settings.diffToolsOrder = listOf(UnifiedDiffTool.INSTANCE.javaClass.canonicalName)
    }

    override fun tearDown() {
        try {
            settings.diffToolsOrder = former
        } finally {
            super.tearDown()
        }
    }

    /** Returns the viewer's editor, once it has the text. */
    private fun editor(view: View): Editor {
        val find = {
            UIUtil
                .uiTraverser(view.component)
                .filter(DataProvider::class.java)
                .mapNotNull { it.getData(DiffDataKeys.DIFF_VIEWER.name) as? UnifiedDiffViewer }
                .firstOrNull()
                ?.editor
                ?.takeIf { it.document.textLength > 0 }
        }
        await("the viewer") { find() != null }
        return checkNotNull(find())
    }

    private fun update(editor: Editor, action: AnAction): AnActionEvent =
        action.eventOn(
            CommonDataKeys.PROJECT to project,
            CommonDataKeys.EDITOR to editor,
            PlatformDataKeys.CONTEXT_COMPONENT to editor.contentComponent,
        )

    /** Performs an action as a key does. Returns whether it was enabled. */
    private fun perform(editor: Editor, action: AnAction): Boolean {
        val event = update(editor, action)
        if (event.presentation.isEnabled) action.actionPerformed(event)
        return event.presentation.isEnabled
    }

    private fun action(id: String) = ActionManager.getInstance().getAction(id)

    private fun nextChange(editor: Editor): NextChangeAction {
        val find = {
            ActionUtil
                .getActions(
                    editor.contentComponent,
                ).filterIsInstance<NextChangeAction>()
                .singleOrNull()
        }
        await("the action") { find() != null }
        return checkNotNull(find())
    }

    private fun line(editor: Editor) = editor.caretModel.logicalPosition.line

    private fun revertAt(editor: Editor, line: Int): Boolean {
        editor.caretModel.moveToLogicalPosition(LogicalPosition(line, 0))
        return perform(editor, action("Companion.RevertChange"))
    }

    private fun proposed(view: View) = checkNotNull(view.file.proposal).document.text

    private val before = "one\ntwo\nthree\nfour\nfive\n"
    private val after = "ONE\ntwo\nTHREE\nfour\nfive\n"

    fun `test the change at the caret is reverted`() {
        for ((line, left) in mapOf(
            0 to "one\ntwo\nTHREE\nfour\nfive\n",
            1 to "one\ntwo\nTHREE\nfour\nfive\n",
            3 to "ONE\ntwo\nthree\nfour\nfive\n",
            4 to "ONE\ntwo\nthree\nfour\nfive\n",
        )) {
            file("a$line.txt", before)
            val view = propose("a$line.txt", after)
            val editor = editor(view)
            assertEquals("one\nONE\ntwo\nthree\nTHREE\nfour\nfive", editor.document.text.trim())
            assertTrue("$line", revertAt(editor, line))
            assertEquals("$line", left, proposed(view))
        }
    }

    fun `test between changes nothing is reverted`() {
        file("a.txt", before)
        val view = propose("a.txt", after)
        val editor = editor(view)
        for (line in listOf(2, 5, 6)) assertFalse("$line", revertAt(editor, line))
        assertEquals(after, proposed(view))
    }

    fun `test added and deleted lines are reverted`() {
        file("a.txt", "one\ntwo\nthree\n")
        val view = propose("a.txt", "zero\none\nthree\nfour\n")
        val editor = editor(view)
        assertEquals("zero\none\ntwo\nthree\nfour", editor.document.text.trim())
        assertTrue(revertAt(editor, 2))
        assertEquals("zero\none\ntwo\nthree\nfour\n", proposed(view))
    }

    fun `test a comment has the lines of the proposal`() {
        file("a.txt", before)
        val editor = editor(propose("a.txt", after))
        val comments = CommentService.getInstance(project)
        val lines = { chosen: IntRange -> comments.place(editor, chosen)?.lines }
        assertEquals(2..2, lines(4..4))
        assertEquals(4..4, lines(6..6))
        assertEquals(1..2, lines(2..4))
        assertNull("a line that the proposal removes", lines(3..3))
        assertEquals(path("a.txt"), comments.place(editor, 4..4)?.path)
    }

    fun `test the lines of a new file are commented on and reverted`() {
        val view = propose("new.txt", "one\ntwo\n")
        val editor = editor(view)
        val line = editor.document.text.lines().indexOf("two")
        assertEquals(1..1, CommentService.getInstance(project).place(editor, line..line)?.lines)
        assertTrue(revertAt(editor, line))
        assertEquals("", proposed(view))
    }

    fun `test the action comments on the line at the caret`() {
        file("a.txt", before)
        val editor = editor(propose("a.txt", after))
        for ((line, isFound) in mapOf(3 to false, 4 to true)) {
            editor.caretModel.moveToLogicalPosition(LogicalPosition(line, 0))
            assertEquals("$line", isFound, update(editor, action("Companion.Comment")).presentation.isVisible)
        }
    }

    fun `test the list of comments leads to the line`() {
        file("a.txt", before)
        val editor = editor(propose("a.txt", after))
        val comments = CommentService.getInstance(project)
        comments.write(comments.drafts.at(checkNotNull(comments.place(editor, 4..4)), null), "why")
        editor.caretModel.moveToOffset(0)
        try {
            comments.show(comments.pending().single())
            await("the line") { line(editor) == 4 }
        } finally {
            comments.pending().forEach(comments::remove)
        }
    }

    fun `test another comparison than the proposal's has the platform's key`() {
        file("a.txt", " one\ntwo\n")
        val editor = editor(propose("a.txt", "one\nTWO\n"))
        val next = nextChange(editor)
        assertTrue(update(editor, next).presentation.isEnabled)
        WriteCommandAction.runWriteCommandAction(project) { editor.document.insertString(0, "zero\n") }
        assertFalse(update(editor, next).presentation.isEnabled)
    }

    fun `test a viewer that is replaced leaves no action behind`() {
        val view = propose("a.txt", "one\ntwo\n")
        awaitGone("the action of the former viewer") {
            val former = editor(view)
            nextChange(former).also {
                file("a.txt", "one\nzero\n")
                virtualFile(root).refresh(false, true)
                await("the new viewer") { former.isDisposed }
            }
        }
        nextChange(editor(view))
    }

    fun `test the caret stays in its line when the viewer is replaced`() {
        val view = propose("a.txt", "one\ntwo\nthree\n")
        val former = editor(view)
        former.caretModel.moveToOffset(former.document.text.indexOf("three") + 2)
        file("a.txt", "one\nzero\n")
        virtualFile(root).refresh(false, true)
        await("the new viewer") { former.isDisposed }
        val editor = editor(view)
        val offset = { editor.caretModel.offset - editor.document.text.indexOf("three") }
        await("the caret") { offset() == 2 }
    }
}
