// Makes links and labels reachable by keyboard, which the platform's are only while a screen reader runs.

package dev.companion.gemini.platform

import com.intellij.openapi.Disposable
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonShortcuts
import com.intellij.openapi.actionSystem.ShortcutSet
import java.awt.Component
import java.awt.Graphics
import java.awt.Insets
import java.awt.Rectangle
import java.awt.event.FocusEvent
import java.awt.event.FocusListener
import java.awt.event.KeyEvent
import javax.swing.JComponent
import javax.swing.KeyStroke
import javax.swing.LayoutFocusTraversalPolicy
import javax.swing.border.Border

/** For the EDT. */
internal object KeyboardAccess {
    /** Lets Tab reach [component], and Enter and Space run [command]. */
    fun add(component: JComponent, command: () -> Unit): JComponent {
        component.isFocusable = true
        component.border = FocusBorder(component.border)
        component.addFocusListener(
            object : FocusListener {
                override fun focusGained(event: FocusEvent) {
                    component.scrollRectToVisible(Rectangle(component.size))
                    component.repaint()
                }

                override fun focusLost(event: FocusEvent) = component.repaint()
            },
        )
        onKey(CommonShortcuts.ENTER, component, command = command)
        val space = KeyStroke.getKeyStroke(KeyEvent.VK_SPACE, 0)
        component.registerKeyboardAction({ command() }, space, JComponent.WHEN_FOCUSED)
        return component
    }

    /** Runs [command] for these keys in [component], until [parent] is disposed. */
    fun onKey(keys: ShortcutSet, component: JComponent, parent: Disposable? = null, command: () -> Unit) {
        val action = object : CompanionAction() {
            override fun actionPerformed(event: AnActionEvent) = command()
        }
        action.registerCustomShortcutSet(keys, component, parent)
    }

    /**
     * Lets Tab lead through [content]. The platform's own policy stays with the first component of a popup, and does
     * not know the components above an editor.
     */
    fun cycle(content: JComponent) {
        content.isFocusCycleRoot = true
        content.focusTraversalPolicy = LayoutFocusTraversalPolicy()
    }

    /** Shows which component has the focus. */
    private class FocusBorder(private val inner: Border?) : Border {
        override fun paintBorder(component: Component, g: Graphics, x: Int, y: Int, width: Int, height: Int) {
            inner?.paintBorder(component, g, x, y, width, height)
            if (!component.hasFocus()) return
            g.color = component.foreground
            g.drawRect(x, y, width - 1, height - 1)
        }

        override fun getBorderInsets(component: Component): Insets =
            inner?.getBorderInsets(component) ?: Insets(0, 2, 0, 2)

        override fun isBorderOpaque() = false
    }
}
