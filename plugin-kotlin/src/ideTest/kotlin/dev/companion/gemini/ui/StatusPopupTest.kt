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
