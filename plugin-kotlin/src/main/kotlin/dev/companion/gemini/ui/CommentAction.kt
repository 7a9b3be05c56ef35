// Lets the user comment on lines of a file or a proposal.

package dev.companion.gemini.ui

import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.actionSystem.DataKey
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.project.Project
import dev.companion.gemini.comments.CommentPopup
import dev.companion.gemini.comments.CommentService
import dev.companion.gemini.platform.CompanionAction
import dev.companion.gemini.project.CompanionService
import dev.companion.gemini.project.ProjectSetting

/** Comments on the selected lines, or on the line of the caret or of the click in the gutter. */
class CommentAction : CompanionAction() {
    override fun update(e: AnActionEvent) {
        e.presentation.isVisible = hasPlace(e)
        e.presentation.isEnabled = e.presentation.isVisible && e.project?.let(::isShared) == true
    }

    private fun hasPlace(e: AnActionEvent): Boolean {
        val project = e.project ?: return false
        val editor = e.getData(CommonDataKeys.EDITOR) ?: return false
        return CommentService.getInstance(project).place(editor, lines(e, editor)) != null
    }

    /** Whether a server would give a comment to a model. */
    private fun isShared(project: Project) =
        CompanionService.getInstance(project).core != null && !ProjectSetting.HIDE_CONTEXT.isOn(project)

    override fun actionPerformed(e: AnActionEvent) {
        val project = e.project ?: return
        val editor = e.getData(CommonDataKeys.EDITOR) ?: return
        CommentPopup.show(project, editor, lines(e, editor))
    }

    internal companion object {
        /** The platform's own constant has another type in older versions. */
        private val LINE_IN_GUTTER = DataKey.create<Int>("EditorGutter.LOGICAL_LINE_AT_CURSOR")

        fun lines(event: AnActionEvent, editor: Editor): IntRange {
            val line = editor.document.getLineNumber(editor.caretModel.primaryCaret.offset)
            val selected = selectedLines(editor) ?: line..line
            val clicked = event.getData(LINE_IN_GUTTER)
            return if (clicked == null || clicked in selected) selected else clicked..clicked
        }

        /** Returns the selected lines, 0-based; null if nothing is selected. */
        fun selectedLines(editor: Editor): IntRange? {
            val caret = editor.caretModel.primaryCaret
            val document = editor.document
            if (caret.selectionStart == caret.selectionEnd) return null
            return document.getLineNumber(caret.selectionStart)..document.getLineNumber(caret.selectionEnd - 1)
        }
    }
}
