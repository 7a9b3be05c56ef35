// Tests the lines that the action comments on, and when it is enabled.

package dev.companion.gemini.ui

import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.actionSystem.DataKey
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.TextEditor
import com.intellij.openapi.util.io.FileUtil
import com.intellij.openapi.vfs.LocalFileSystem
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.eventOn
import dev.companion.gemini.project.CompanionState
import dev.companion.gemini.project.ProjectSetting
import dev.companion.gemini.project.ServiceTestCase
import java.io.File

class CommentActionTest : ServiceTestCase() {
    private val action get() = ActionManager.getInstance().getAction("Companion.Comment") as CommentAction
    private val editor by lazy {
        val file = File(FileUtil.createTempDirectory("comment", null), "a.txt")
        file.writeText("one\ntwo\nthree\nfour\n")
        val found = checkNotNull(LocalFileSystem.getInstance().refreshAndFindFileByIoFile(file))
        FileEditorManager.getInstance(project).openFile(found, true).filterIsInstance<TextEditor>().single().editor
    }

    private fun event(clicked: Int? = null) =
        action.eventOn(
            CommonDataKeys.PROJECT to project,
            CommonDataKeys.EDITOR to editor,
            DataKey.create<Int>("EditorGutter.LOGICAL_LINE_AT_CURSOR") to clicked,
        )

    private fun lines(clicked: Int? = null) = CommentAction.lines(event(clicked), editor)

    fun testTheLinesAreThoseOfCaretSelectionOrClick() {
        editor.caretModel.moveToOffset(5)
        assertEquals(1..1, lines())
        assertEquals(3..3, lines(clicked = 3))
        editor.selectionModel.setSelection(0, editor.document.getLineStartOffset(2))
        assertEquals("the line after the last break is not selected", 0..1, lines())
        assertEquals("a click into the selection means it", 0..1, lines(clicked = 1))
        assertEquals(2..2, lines(clicked = 2))
    }

    fun testItNeedsAServerThatShares() {
        assertFalse(event().presentation.isEnabled)
        assertTrue(event().presentation.isVisible)
        val service = serviceWith { _, _ -> RecordingCore() }
        service.start()
        await { service.state is CompanionState.Running }
        assertTrue(event().presentation.isEnabled)
        ProjectSetting.HIDE_CONTEXT.set(project, true)
        assertFalse(event().presentation.isEnabled)
        ProjectSetting.HIDE_CONTEXT.set(project, false)
    }
}
