// Lets the user write a comment: opens a field at the lines of an editor.

package dev.companion.gemini.comments

import com.intellij.openapi.actionSystem.CommonShortcuts
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.LogicalPosition
import com.intellij.openapi.project.Project
import com.intellij.openapi.ui.popup.JBPopup
import com.intellij.openapi.ui.popup.JBPopupFactory
import com.intellij.openapi.ui.popup.JBPopupListener
import com.intellij.openapi.ui.popup.LightweightWindowEvent
import com.intellij.openapi.wm.IdeFocusManager
import com.intellij.ui.DocumentAdapter
import com.intellij.ui.awt.RelativePoint
import com.intellij.ui.components.JBLabel
import com.intellij.ui.components.JBScrollPane
import com.intellij.ui.components.JBTextArea
import com.intellij.util.ui.JBUI
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.KeyboardAccess
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.tooLong
import java.awt.BorderLayout
import java.awt.KeyboardFocusManager
import java.awt.Point
import java.awt.event.InputEvent
import java.awt.event.KeyEvent
import javax.swing.JPanel
import javax.swing.KeyStroke
import javax.swing.event.DocumentEvent
import javax.swing.text.DefaultEditorKit

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
        service.watch()
        val draft = service.drafts.at(place, comment)
        draft.field?.let { open ->
            IdeFocusManager.getInstance(project).requestFocus(open.area, true)
            return
        }
        lateinit var popup: JBPopup
        val field = CommentField(draft.text, isNew = comment == null) { text ->
            popup.cancel()
            service.write(draft, text)
        }
        popup = popup(project, field, draft.lines.lines)
        draft.field = field
        val listener = object : JBPopupListener {
            override fun onClosed(event: LightweightWindowEvent) {
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

/**
 * A field for several lines. Enter and the link call [send] with the text; Shift+Enter begins a line; Tab leaves the
 * field. For the EDT.
 */
internal class CommentField(
    text: String,
    private val isNew: Boolean,
    private val send: (String) -> Unit,
) : JPanel(BorderLayout()) {
    val area = JBTextArea(text, ROWS, COLUMNS)
    private val hint = JBLabel("", UIUtil.ComponentStyle.SMALL)

    init {
        border = JBUI.Borders.empty(GAP, GAP)
        KeyboardAccess.cycle(this)
        area.lineWrap = true
        area.wrapStyleWord = true
        area.caretPosition = text.length
        val typing = object : DocumentAdapter() {
            override fun textChanged(event: DocumentEvent) = showHint()
        }
        area.document.addDocumentListener(typing)
        area.accessibleContext.accessibleName = message("comment.field")
        area.setFocusTraversalKeys(KeyboardFocusManager.FORWARD_TRAVERSAL_KEYS, setOf(tab(0)))
        area.setFocusTraversalKeys(KeyboardFocusManager.BACKWARD_TRAVERSAL_KEYS, setOf(tab(InputEvent.SHIFT_DOWN_MASK)))
        val newLine = KeyStroke.getKeyStroke(KeyEvent.VK_ENTER, InputEvent.SHIFT_DOWN_MASK)
        area.inputMap.put(newLine, DefaultEditorKit.insertBreakAction)
        KeyboardAccess.onKey(CommonShortcuts.ENTER, area, command = ::send)
        add(JBScrollPane(area), BorderLayout.CENTER)
        val bottom = JPanel(BorderLayout())
        bottom.border = JBUI.Borders.empty(GAP, 0, 0, 0)
        showHint()
        hint.foreground = UIUtil.getContextHelpForeground()
        hint.border = JBUI.Borders.emptyRight(2 * GAP)
        bottom.add(hint, BorderLayout.CENTER)
        bottom.add(Platform.link(message("comment.send"), ::send), BorderLayout.EAST)
        add(bottom, BorderLayout.SOUTH)
    }

    private fun showHint() {
        val key = if (isNew) "comment.hint" else "comment.hint.remove"
        hint.text = tooLong(area.text) ?: message(key)
    }

    private fun send() {
        if (tooLong(area.text) == null) send(area.text)
    }

    private fun tab(modifiers: Int) = KeyStroke.getKeyStroke(KeyEvent.VK_TAB, modifiers)

    private companion object {
        const val ROWS = 3
        const val COLUMNS = 50
        const val GAP = 6
    }
}
