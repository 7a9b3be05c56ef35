// Tests a proposal in the unified viewer, whose editor has both sides in a text of its own.

package dev.companion.gemini.tabs

import com.intellij.diff.impl.DiffSettingsHolder
import com.intellij.diff.tools.fragmented.UnifiedDiffTool
import com.intellij.diff.tools.fragmented.UnifiedDiffViewer
import com.intellij.diff.tools.util.DiffDataKeys
import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.actionSystem.DataContext
import com.intellij.openapi.actionSystem.DataProvider
import com.intellij.openapi.actionSystem.PlatformDataKeys
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.LogicalPosition
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.comments.CommentService
import dev.companion.gemini.review.DiffTestCase

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

    private fun revertAt(editor: Editor, line: Int): Boolean {
        editor.caretModel.moveToLogicalPosition(LogicalPosition(line, 0))
        val action = ActionManager.getInstance().getAction("Companion.RevertChange")
        val data = mapOf(
            CommonDataKeys.PROJECT.name to project,
            CommonDataKeys.EDITOR.name to editor,
            PlatformDataKeys.CONTEXT_COMPONENT.name to editor.contentComponent,
        )
        val event = AnActionEvent.createFromAnAction(action, null, "test", DataContext(data::get))
        action.update(event)
        if (event.presentation.isEnabled) action.actionPerformed(event)
        return event.presentation.isEnabled
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
}
