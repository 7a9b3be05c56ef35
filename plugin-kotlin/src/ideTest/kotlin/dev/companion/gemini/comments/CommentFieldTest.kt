// Tests the field for a comment.

package dev.companion.gemini.comments

import com.intellij.openapi.actionSystem.CommonShortcuts
import com.intellij.openapi.actionSystem.ex.ActionUtil
import com.intellij.testFramework.LightPlatformTestCase
import com.intellij.testFramework.TestActionEvent
import com.intellij.ui.components.JBLabel
import com.intellij.ui.components.labels.LinkLabel
import com.intellij.util.ui.UIUtil
import javax.swing.KeyStroke

class CommentFieldTest : LightPlatformTestCase() {
    private val sent = ArrayList<String>()

    private fun field(text: String = "") = CommentField(text, isNew = text.isEmpty()) { sent += it }

    private fun label(field: CommentField) = UIUtil.findComponentsOfType(field, JBLabel::class.java).single().text

    fun `test Enter and the link send the text`() {
        val field = field()
        field.area.text = "why\nso"
        val enter = ActionUtil.getActions(field.area).single { it.shortcutSet === CommonShortcuts.ENTER }
        enter.actionPerformed(TestActionEvent(enter))
        UIUtil.findComponentsOfType(field, LinkLabel::class.java).single().doClick()
        assertEquals(listOf("why\nso", "why\nso"), sent)
    }

    fun `test a text that the server would cut is not sent, and stays`() {
        val field = field()
        val longest = "x".repeat(16_384)
        field.area.text = "$longest!"
        val link = UIUtil.findComponentsOfType(field, LinkLabel::class.java).single()
        link.doClick()
        assertEquals(emptyList<String>(), sent)
        assertEquals("1 character too long. Shorten the text.", label(field))
        field.area.text = longest
        assertTrue(label(field), "Enter sends" in label(field))
        link.doClick()
        assertEquals(listOf(longest), sent)
    }

    fun `test Shift and Enter begin a line`() {
        val area = field("why").area
        area.select(3, 3)
        val action = area.actionMap[area.inputMap[KeyStroke.getKeyStroke("shift ENTER")]]
        action.actionPerformed(java.awt.event.ActionEvent(area, 0, null))
        assertEquals("why\n", area.text)
    }

    fun `test the first key keeps a present text, which can be removed`() {
        val field = field("why")
        field.area.replaceSelection("!")
        assertEquals("why!", field.area.text)
        assertTrue(label(field), "removes" in label(field))
        assertFalse(label(field()), "removes" in label(field()))
    }
}
