// Opens the field for a comment at the lines of an editor.

package dev.companion.gemini.comments

import com.intellij.openapi.editor.Editor
import com.intellij.openapi.project.Project
import com.intellij.openapi.ui.popup.JBPopup
import com.intellij.openapi.ui.popup.JBPopupFactory
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.assertEdt

/** For the EDT. A click elsewhere does not close the popup, because it would lose the user's text. */
internal object CommentPopup {
    /** Asks for a comment on [lines], 0-based. If these lines have a comment, the user edits it. */
    fun show(project: Project, editor: Editor, lines: IntRange) {
        assertEdt()
        val service = CommentService.getInstance(project)
        val place = service.place(editor.document, lines) ?: return
        show(project, editor, place, service.on(place))
    }

    /** Lets the user edit a comment. */
    fun show(project: Project, editor: Editor, comment: Comment) {
        assertEdt()
        val place = CommentService.getInstance(project).place(editor.document, comment.lines) ?: return
        show(project, editor, place, comment)
    }

    private fun show(project: Project, editor: Editor, place: CommentPlace, comment: Comment?) {
        var popup: JBPopup? = null
        val marker = place.mark()
        val field = CommentField(comment?.params?.text.orEmpty()) { text ->
            popup?.cancel()
            CommentService.getInstance(project).write(comment, place.at(marker), text)
        }
        val builder = JBPopupFactory.getInstance().createComponentPopupBuilder(field, field.area)
        builder.setTitle(title(place.lines)).setProject(project).setRequestFocus(true).setMovable(true)
        builder.setResizable(true).setCancelOnClickOutside(false).setCancelOnWindowDeactivation(false)
        popup = builder.createPopup()
        popup.showInBestPositionFor(editor)
    }

    private fun title(lines: IntRange): String {
        val (first, last) = Pair(lines.first + 1, lines.last + 1)
        return if (first == last) message("comment.title", first) else message("comment.title.lines", first, last)
    }
}
