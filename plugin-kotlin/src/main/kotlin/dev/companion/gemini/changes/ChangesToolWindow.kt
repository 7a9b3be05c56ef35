// Makes the tool window of changed files, which is there once there is a change.

package dev.companion.gemini.changes

import com.intellij.openapi.project.DumbAware
import com.intellij.openapi.project.Project
import com.intellij.openapi.wm.ToolWindow
import com.intellij.openapi.wm.ToolWindowFactory
import com.intellij.openapi.wm.ToolWindowManager
import dev.companion.gemini.core.assertEdt

class ChangesToolWindow :
    ToolWindowFactory,
    DumbAware {
    override fun shouldBeAvailable(project: Project) = ChangesService.getInstance(project).prompts.isNotEmpty()

    override fun createToolWindowContent(project: Project, toolWindow: ToolWindow) {
        val panel = ChangesPanel(project)
        val contents = toolWindow.contentManager
        val content = contents.factory.createContent(panel, null, false)
        content.setDisposer(panel)
        content.preferredFocusableComponent = panel.tree
        contents.addContent(content)
    }

    companion object {
        const val ID = "Gemini CLI Changes"

        /** Shows or hides the button of the tool window. Never takes the focus, and leaves an open window. EDT. */
        internal fun update(project: Project, hasChanges: Boolean) {
            assertEdt()
            val window = ToolWindowManager.getInstance(project).getToolWindow(ID) ?: return
            val isAvailable = hasChanges || window.isVisible
            if (window.isAvailable != isAvailable) window.setAvailable(isAvailable, null)
        }

        /** EDT. */
        fun open(project: Project) {
            assertEdt()
            ToolWindowManager.getInstance(project).getToolWindow(ID)?.activate(null)
        }
    }
}
