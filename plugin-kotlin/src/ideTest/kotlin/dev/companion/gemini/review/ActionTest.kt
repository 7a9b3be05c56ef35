// Tests the actions on proposals, and the other uses of Esc.

package dev.companion.gemini.review

import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.actionSystem.CommonShortcuts
import com.intellij.openapi.actionSystem.PlatformDataKeys
import com.intellij.openapi.actionSystem.ex.ActionUtil
import com.intellij.openapi.editor.LogicalPosition
import com.intellij.openapi.editor.impl.EditorComponentImpl
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.eventOn
import java.awt.Component
import java.awt.event.KeyEvent
import javax.swing.JTextField

class ActionTest : DiffTestCase() {
    private val accept: AnAction get() = ActionManager.getInstance().getAction("Companion.AcceptProposal")
    private val reject: AnAction get() = ActionManager.getInstance().getAction("Companion.RejectProposal")

    private fun event(action: AnAction, focus: Component, key: Boolean = true): AnActionEvent {
        // By then the user has seen the newest view.
        val seen = System.currentTimeMillis() + 5_000
        val press = if (key) KeyEvent(focus, KeyEvent.KEY_PRESSED, seen, 0, KeyEvent.VK_ENTER, '\n') else null
        return action.eventOn(
            CommonDataKeys.PROJECT to project,
            CommonDataKeys.EDITOR to (focus as? EditorComponentImpl)?.editor,
            PlatformDataKeys.CONTEXT_COMPONENT to focus,
            press = press,
        )
    }

    private fun isEnabled(action: AnAction, focus: Component, key: Boolean = true) =
        event(action, focus, key).presentation.isEnabled

    /** Returns the action for Esc in the tab. */
    private fun escape(view: View): AnAction =
        ActionUtil
            .getActions(view.component)
            .single { it.shortcutSet.shortcuts.contentEquals(CommonShortcuts.ESCAPE.shortcuts) }

    fun `test the actions decide about the proposal in which the focus is`() {
        propose("a.txt", "two")
        val view = propose("b.txt", "three")
        accept.actionPerformed(event(accept, view.right.contentComponent))
        assertEquals(listOf("accepted b.txt 'three'"), calls)
        val other = view("a.txt")
        reject.actionPerformed(event(reject, other.right.contentComponent))
        assertEquals("rejected a.txt", calls.last())
    }

    fun `test a key pressed elsewhere decides nothing`() {
        propose("a.txt", "two")
        val elsewhere = JTextField()
        assertFalse(isEnabled(accept, elsewhere))
        assertFalse(isEnabled(reject, elsewhere))
    }

    fun `test without a proposal the actions are off`() {
        val view = propose("a.txt", "two")
        val inside = view.right.contentComponent
        view.click("Reject")
        assertFalse(isEnabled(accept, inside))
        assertFalse(isEnabled(reject, inside, key = false))
    }

    fun `test what is accepted cannot be decided again, also if its delivery is unknown`() {
        val view = propose("a.txt", "two")
        core.delivery = Delivery.UNKNOWN
        view.click("Accept")
        assertFalse(isEnabled(accept, view.right.contentComponent))
        assertFalse(isEnabled(reject, view.right.contentComponent))
    }

    fun `test the banner is in reach as long as the tab is, also if the delivery is unknown`() {
        val banner = ActionManager.getInstance().getAction("Companion.GoToBanner")
        assertFalse(isEnabled(banner, JTextField()))
        val view = propose("a.txt", "two")
        assertTrue(isEnabled(banner, view.right.contentComponent))
        core.delivery = Delivery.UNKNOWN
        view.click("Accept")
        assertTrue(isEnabled(banner, view.right.contentComponent))
        assertTrue("from Find Action", isEnabled(banner, JTextField(), key = false))
    }

    fun `test the tab has Ctrl+Enter and the user's own keys`() {
        val view = propose("a.txt", "two")
        val actions = ActionUtil.getActions(view.component)
        assertTrue(accept in actions && reject in actions)
        assertEquals("[ctrl pressed ENTER]", accept.shortcutSet.shortcuts.single().toString())
    }

    fun `test Esc in the proposal rejects`() {
        val view = propose("a.txt", "two")
        val escape = escape(view)
        val event = event(escape, view.right.contentComponent)
        assertTrue(event.presentation.isEnabled)
        escape.actionPerformed(event)
        assertEquals(listOf("rejected a.txt"), calls)
    }

    fun `test Esc first ends a selection`() {
        val view = propose("a.txt", "two")
        view.right.selectionModel.setSelection(0, 2)
        assertFalse(isEnabled(escape(view), view.right.contentComponent))
        view.right.selectionModel.removeSelection()
        assertTrue(isEnabled(escape(view), view.right.contentComponent))
    }

    fun `test Esc first ends several carets`() {
        val view = propose("a.txt", "one\ntwo")
        view.right.caretModel.addCaret(view.right.logicalToVisualPosition(LogicalPosition(1, 0)))
        assertFalse(isEnabled(escape(view), view.right.contentComponent))
    }

    fun `test Esc first closes a search`() {
        val view = propose("a.txt", "two")
        view.right.headerComponent = javax.swing.JPanel()
        assertFalse(isEnabled(escape(view), view.right.contentComponent))
    }
}
