// Shows a comment in the gutter of an editor.

package dev.companion.gemini.comments

import com.intellij.icons.AllIcons
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.editor.markup.GutterIconRenderer
import com.intellij.openapi.project.DumbAware
import com.intellij.openapi.project.Project
import com.intellij.xml.util.XmlStringUtil
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.platform.CompanionAction
import javax.swing.Icon

/** The tooltip is the comment. A click edits it. */
internal class CommentIcon(
    private val project: Project,
    private val comment: Comment,
) : GutterIconRenderer(),
    DumbAware {
    override fun getIcon(): Icon = AllIcons.General.Balloon

    override fun getTooltipText(): String =
        XmlStringUtil.escapeString(message("comment.tooltip", comment.params.text)).replace("\n", "<br>")

    override fun isNavigateAction() = true

    override fun getClickAction(): AnAction =
        object : CompanionAction() {
            override fun actionPerformed(event: AnActionEvent) {
                val editor = event.getData(CommonDataKeys.EDITOR) ?: return
                CommentPopup.show(project, editor, comment)
            }
        }

    override fun equals(other: Any?) = other is CommentIcon && other.comment === comment

    override fun hashCode() = comment.params.id.hashCode()
}
