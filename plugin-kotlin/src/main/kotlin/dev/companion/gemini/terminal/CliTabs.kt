// Owns which tabs of the terminal a CLI was run in, and the way back to them.

package dev.companion.gemini.terminal

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.ModalityState
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Key
import com.intellij.openapi.wm.ToolWindow
import com.intellij.openapi.wm.ToolWindowManager
import com.intellij.ui.content.Content

/** What runs in a tab, as a terminal's API has it. EDT. */
internal interface TabProgram {
    /** Calls [then], on any thread, with whether the shell runs a program. False where that can't be known. */
    fun askWhetherItRuns(then: (Boolean) -> Unit)

    fun send(text: String)
}

/**
 * For the EDT.
 *
 * A tab whose CLI has ended is left alone: its shell may have half a command in it, which a command of ours would complete.
 */
internal object CliTabs {
    private const val TOOL_WINDOW = "Terminal"

    /** Ends with the tab. */
    private val PROGRAM = Key.create<TabProgram>("dev.companion.gemini.cli")

    fun remember(content: Content, program: TabProgram) = content.putUserData(PROGRAM, program)

    fun findRunning(project: Project, then: (CliTab?) -> Unit) {
        val toolWindow = ToolWindowManager.getInstance(project).getToolWindow(TOOL_WINDOW) ?: return then(null)
        val tabs = toolWindow.contentManager.contents.reversed().mapNotNull { content ->
            content.getUserData(PROGRAM)?.let { Tab(toolWindow, content, it) }
        }
        findRunning(project, tabs, then)
    }

    private fun findRunning(project: Project, tabs: List<Tab>, then: (CliTab?) -> Unit) {
        val tab = tabs.firstOrNull() ?: return then(null)
        tab.program.askWhetherItRuns { runs ->
            val next = { if (runs) then(tab) else findRunning(project, tabs.drop(1), then) }
            ApplicationManager.getApplication().invokeLater(next, ModalityState.any(), project.disposed)
        }
    }

    private class Tab(
        private val toolWindow: ToolWindow,
        private val content: Content,
        val program: TabProgram,
    ) : CliTab {
        override fun show() {
            toolWindow.activate(null)
            toolWindow.contentManager.setSelectedContent(content, true)
        }

        override fun send(text: String) = program.send(text)
    }
}
