// Owns the variables by which a CLI in the IDE's terminal finds the server. Used only together with the Terminal plugin.

package dev.companion.gemini.project

import com.intellij.openapi.project.Project
import org.jetbrains.plugins.terminal.LocalTerminalCustomizer

/**
 * Every terminal asks it, also the newest: that prefers an interface which 2024.2 lacks, and still asks this class.
 * Not the EDT.
 */
class TerminalEnvironment : LocalTerminalCustomizer() {
    override fun customizeCommandAndEnvironment(
        project: Project,
        workingDirectory: String?,
        command: Array<String>,
        envs: MutableMap<String, String>,
    ): Array<String> {
        CompanionService.getInstance(project).core?.let { envs.putAll(it.terminalEnvironment) }
        return command
    }
}
