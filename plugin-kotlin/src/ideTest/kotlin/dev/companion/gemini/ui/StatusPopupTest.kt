// Tests the layout of the list in the status bar, and which link has the focus.

package dev.companion.gemini.ui

import com.intellij.ui.components.labels.LinkLabel
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.project.CompanionService
import dev.companion.gemini.review.DiffTestCase
import java.awt.Component
import java.awt.Point
import java.io.File
import javax.swing.SwingUtilities
import javax.swing.plaf.basic.BasicHTML

class StatusPopupTest : DiffTestCase() {
    private fun content() = StatusPopup(project).content(CompanionService.getInstance(project))

    private fun links(): List<Pair<String, Point>> {
        val content = content()
        content.size = content.preferredSize
        UIUtil.layoutRecursively(content)
        val found: List<LinkLabel<*>> = UIUtil.findComponentsOfType(content, LinkLabel::class.java)
        return found.map { it.text to SwingUtilities.convertPoint(it as Component, Point(), content) }
    }

    fun `test the links of proposals are in columns`() {
        propose("a.txt", "one\n")
        propose("a much longer name.txt", "one\ntwo\n", cli = 2)
        val links = links()
        for (text in listOf("Accept", "Reject")) {
            val places = links.filter { it.first == text }.map { it.second }
            assertEquals(text, 2, places.map { it.y }.distinct().size)
            assertEquals(text, 1, places.map { it.x }.distinct().size)
        }
    }

    fun `test Enter in a list that has just opened ends nothing`() {
        val dangerous = setOf("Restart companion", "Accept", "Reject")
        assertFalse(links().first().first in dangerous)
        propose("a.txt", "one\n")
        assertTrue(links().first().first.endsWith("a.txt"))
    }

    fun `test a path is no HTML`() {
        root = File(project.basePath, "<html>").also { check(it.mkdir()) }
        propose("a.txt", "one\n")
        val found: List<LinkLabel<*>> = UIUtil.findComponentsOfType(content(), LinkLabel::class.java)
        val link = found.single { it.text == "<html>/a.txt" }
        assertNull(link.getClientProperty(BasicHTML.propertyKey))
    }
}
