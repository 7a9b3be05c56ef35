// Sets variables of the IDE's terminal, so that a CLI in it finds the server. Loaded only with the
// Terminal plugin.

package dev.companion.gemini.project

import com.intellij.openapi.project.Project
import dev.companion.gemini.terminal.CliPlace
import org.jetbrains.plugins.terminal.LocalTerminalCustomizer

/**
 * Every terminal asks it, also the newest: that prefers an interface which 2024.2 lacks, and still asks this class.
 * Not the EDT, as far as was read; there it would not wait for a server that starts.
 *
 * A shell in WSL gets none: there another 127.0.0.1 answers, if any, and the paths are others. The README says how a CLI
 * gets from there to here.
 */
class TerminalEnvironment : LocalTerminalCustomizer() {
    override fun customizeCommandAndEnvironment(
        project: Project,
        workingDirectory: String?,
        command: Array<String>,
        envs: MutableMap<String, String>,
    ): Array<String> {
        if (CliPlace.isInWsl(workingDirectory, command.asList())) return command
        CompanionService.getInstance(project).awaitCore()?.let { envs.putAll(it.terminalEnvironment) }
        return command
    }
}
