// Uses the terminal of the IDE. Loaded only with the Terminal plugin.

package dev.companion.gemini.terminal

import com.intellij.openapi.project.Project
import com.intellij.terminal.ui.TerminalWidget
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.platform.inBackground
import org.jetbrains.plugins.terminal.TerminalToolWindowManager
import org.jetbrains.plugins.terminal.TerminalUtil
import java.io.IOException

/** Opens a tab of the terminal that the user has chosen. */
class IdeTerminal : CliTerminal {
    override fun run(project: Project, command: String): String? {
        val tab = CompanionBundle.message("terminal.tab")
        val outcome = ReworkedTerminal.run(project, tab, command)
        if (outcome == ReworkedTerminal.Outcome.RUNS) return null
        runInClassic(project, tab, command)
        return CompanionBundle.message("terminal.classic").takeIf { outcome == ReworkedTerminal.Outcome.UNREACHABLE }
    }

    private fun runInClassic(project: Project, tab: String, command: String) {
        val manager = TerminalToolWindowManager.getInstance(project)
        val widget = manager.createShellWidget(project.basePath, tab, true, true)
        widget.sendCommandToExecute(command)
        val contents = manager.toolWindow.contentManager.contents
        contents
            .find { TerminalToolWindowManager.findWidgetByContent(it) === widget }
            ?.let { CliTabs.remember(project, it, Program(widget)) }
    }

    /** A program in the classic terminal. */
    private class Program(private val widget: TerminalWidget) : TabProgram {
        override val terminal get() = widget

        override fun askWhetherItRuns(then: (Boolean) -> Unit) {
            val connector = widget.ttyConnector ?: return then(false)
            inBackground {
                then(
                    try {
                        TerminalUtil.hasRunningCommands(connector)
                    } catch (_: IllegalStateException) {
                        false // unknown
                    },
                )
            }
        }

        override fun send(text: String) {
            val connector = widget.ttyConnector ?: return
            inBackground {
                try {
                    connector.write(text)
                } catch (_: IOException) {
                    Unit // the terminal has ended
                }
            }
        }
    }
}
