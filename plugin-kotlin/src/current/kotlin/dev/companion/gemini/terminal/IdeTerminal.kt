// Owns the terminal of the IDE. Used only together with the Terminal plugin.

package dev.companion.gemini.terminal

import com.intellij.openapi.project.Project
import dev.companion.gemini.CompanionBundle
import org.jetbrains.plugins.terminal.TerminalToolWindowManager

/** Opens a tab of the terminal that the user has. */
class IdeTerminal : CliTerminal {
    override fun run(project: Project, command: String) {
        val tab = CompanionBundle.message("terminal.tab")
        if (ReworkedTerminal.run(project, tab, command)) return
        val widget = TerminalToolWindowManager.getInstance(project).createShellWidget(project.basePath, tab, true, true)
        widget.sendCommandToExecute(command)
    }
}
