// Shows a popup like that of a comment without the plugin, to measure the platform's part.

package dev.companion.gemini.robot

import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.ui.popup.JBPopupFactory
import com.intellij.ui.awt.RelativePoint
import com.intellij.ui.components.JBLabel
import com.intellij.ui.components.JBScrollPane
import com.intellij.ui.components.JBTextArea
import java.awt.BorderLayout
import java.awt.Point
import javax.swing.JPanel

/** For the EDT. */
internal object PlainPopup {
    /** Returns the times in ns until a popup shows over the open file, and until it is closed. */
    fun times(count: Int): Map<String, List<Long>> {
        val editor = checkNotNull(FileEditorManager.getInstance(project()).selectedTextEditor)
        val shown = ArrayList<Long>()
        val closed = ArrayList<Long>()
        repeat(count) {
            val begin = System.nanoTime()
            val area = JBTextArea("", 3, 50)
            val content = JPanel(BorderLayout())
            content.add(JBScrollPane(area), BorderLayout.CENTER)
            content.add(JBLabel("Enter sends"), BorderLayout.SOUTH)
            val builder = JBPopupFactory.getInstance().createComponentPopupBuilder(content, area)
            builder.setTitle("Title").setProject(project()).setRequestFocus(true).setMovable(true).setResizable(true)
            val popup = builder.createPopup()
            popup.show(RelativePoint(editor.contentComponent, Point(0, 0)))
            shown += System.nanoTime() - begin
            popup.cancel()
            closed += System.nanoTime() - begin - shown.last()
        }
        return mapOf("the platform opens a popup" to shown, "the platform closes it" to closed)
    }
}
