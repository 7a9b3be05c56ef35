// Lets the user write a comment.

package dev.companion.gemini.comments

import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonShortcuts
import com.intellij.ui.components.JBLabel
import com.intellij.ui.components.JBScrollPane
import com.intellij.ui.components.JBTextArea
import com.intellij.util.ui.JBUI
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.platform.CompanionAction
import dev.companion.gemini.platform.KeyboardAccess
import dev.companion.gemini.platform.Platform
import java.awt.BorderLayout
import java.awt.KeyboardFocusManager
import java.awt.event.InputEvent
import java.awt.event.KeyEvent
import javax.swing.JPanel
import javax.swing.KeyStroke
import javax.swing.text.DefaultEditorKit

/**
 * A field for several lines. Enter and the link call [send] with the text; Shift+Enter begins a line; Tab leaves the
 * field. For the EDT.
 */
internal class CommentField(
    text: String,
    isNew: Boolean,
    private val send: (String) -> Unit,
) : JPanel(BorderLayout()) {
    val area = JBTextArea(text, ROWS, COLUMNS)

    init {
        border = JBUI.Borders.empty(GAP, GAP)
        KeyboardAccess.cycle(this)
        area.lineWrap = true
        area.wrapStyleWord = true
        area.caretPosition = text.length
        area.accessibleContext.accessibleName = message("comment.field")
        area.setFocusTraversalKeys(KeyboardFocusManager.FORWARD_TRAVERSAL_KEYS, setOf(tab(0)))
        area.setFocusTraversalKeys(KeyboardFocusManager.BACKWARD_TRAVERSAL_KEYS, setOf(tab(InputEvent.SHIFT_DOWN_MASK)))
        val newLine = KeyStroke.getKeyStroke(KeyEvent.VK_ENTER, InputEvent.SHIFT_DOWN_MASK)
        area.inputMap.put(newLine, DefaultEditorKit.insertBreakAction)
        val enter = object : CompanionAction() {
            override fun actionPerformed(event: AnActionEvent) = send()
        }
        enter.registerCustomShortcutSet(CommonShortcuts.ENTER, area, null)
        add(JBScrollPane(area), BorderLayout.CENTER)
        val bottom = JPanel(BorderLayout())
        bottom.border = JBUI.Borders.empty(GAP, 0, 0, 0)
        val key = if (isNew) "comment.hint" else "comment.hint.remove"
        val hint = JBLabel(message(key), UIUtil.ComponentStyle.SMALL)
        hint.foreground = UIUtil.getContextHelpForeground()
        hint.border = JBUI.Borders.emptyRight(2 * GAP)
        bottom.add(hint, BorderLayout.CENTER)
        bottom.add(Platform.link(message("comment.send"), ::send), BorderLayout.EAST)
        add(bottom, BorderLayout.SOUTH)
    }

    private fun send() = send(area.text)

    private fun tab(modifiers: Int) = KeyStroke.getKeyStroke(KeyEvent.VK_TAB, modifiers)

    private companion object {
        const val ROWS = 3
        const val COLUMNS = 50
        const val GAP = 6
    }
}
