// Opens the field for a comment at the lines of an editor.

package dev.companion.gemini.comments

import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.LogicalPosition
import com.intellij.openapi.project.Project
import com.intellij.openapi.ui.popup.JBPopup
import com.intellij.openapi.ui.popup.JBPopupFactory
import com.intellij.openapi.ui.popup.JBPopupListener
import com.intellij.openapi.ui.popup.LightweightWindowEvent
import com.intellij.openapi.wm.IdeFocusManager
import com.intellij.ui.awt.RelativePoint
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.assertEdt
import java.awt.Point

/**
 * For the EDT. A click elsewhere does not close the popup. Closed in any other way than by sending, it leaves a draft,
 * which the next popup at these lines shows.
 */
internal object CommentPopup {
    /** Asks for a comment on [lines], 0-based. If these lines have a comment, the user edits it. */
    fun show(project: Project, editor: Editor, lines: IntRange) {
        assertEdt()
        val service = CommentService.getInstance(project)
        val place = service.place(editor, lines) ?: return
        val comment = service.on(place)
        show(project, editor, lines.last, comment?.let(service::placeOf) ?: place, comment)
    }

    fun show(project: Project, editor: Editor, comment: Comment) {
        assertEdt()
        val place = CommentService.getInstance(project).placeOf(comment) ?: return
        show(project, editor, place.lines.last, place, comment)
    }

    private fun show(project: Project, editor: Editor, line: Int, place: CommentPlace, comment: Comment?) {
        val service = CommentService.getInstance(project)
        val draft = service.drafts.at(place, comment)
        draft.field?.let { open ->
            IdeFocusManager.getInstance(project).requestFocus(open.area, true)
            return
        }
        val field = CommentField(draft.text, isNew = comment == null) { text ->
            draft.popup?.cancel()
            service.drafts.forget(draft)
            service.write(comment, draft.place, text)
        }
        val popup = popup(project, field, draft.place.lines)
        draft.popup = popup
        draft.field = field
        val listener = object : JBPopupListener {
            override fun onClosed(event: LightweightWindowEvent) {
                draft.popup = null
                draft.field = null
                draft.text = field.area.text
                if (draft.text.isBlank() || draft.text == comment?.params?.text) service.drafts.forget(draft)
            }
        }
        popup.addListener(listener)
        popup.show(below(editor, line))
    }

    private fun popup(project: Project, field: CommentField, lines: IntRange): JBPopup {
        val builder = JBPopupFactory.getInstance().createComponentPopupBuilder(field, field.area)
        builder.setTitle(title(lines)).setProject(project).setRequestFocus(true).setMovable(true)
        builder.setResizable(true).setCancelOnClickOutside(false).setCancelOnWindowDeactivation(false)
        return builder.createPopup()
    }

    /** The place below a line, or at the edge of the editor if the line is out of sight. */
    private fun below(editor: Editor, line: Int): RelativePoint {
        val position = editor.logicalPositionToXY(LogicalPosition(line, 0))
        val visible = editor.scrollingModel.visibleArea
        val y = (position.y + editor.lineHeight).coerceIn(visible.y, visible.y + visible.height)
        return RelativePoint(editor.contentComponent, Point(visible.x, y))
    }

    private fun title(lines: IntRange): String {
        val (first, last) = Pair(lines.first + 1, lines.last + 1)
        return if (first == last) message("comment.title", first) else message("comment.title.lines", first, last)
    }
}
