// Sets the variables of the IDE's terminal, so that a CLI in it finds the server. Loaded only with the Terminal plugin.

package dev.companion.gemini.project

import com.intellij.openapi.project.Project
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.terminal.CliProgram
import org.jetbrains.plugins.terminal.LocalTerminalCustomizer

/**
 * Adds the server's variables to each new terminal. All terminals of the IDE call this class, even the newest, which
 * prefers an interface that 2024.2 lacks.
 *
 * Called off the EDT by the newest terminal. On the EDT it would not wait for a server that is starting.
 *
 * A shell in WSL gets no variables, because its 127.0.0.1 and its paths differ. The README explains how a CLI connects
 * from there.
 */
class TerminalEnvironment : LocalTerminalCustomizer() {
    override fun customizeCommandAndEnvironment(
        project: Project,
        workingDirectory: String?,
        command: Array<String>,
        envs: MutableMap<String, String>,
    ): Array<String> {
        if (CliProgram.isInWsl(workingDirectory, command.asList())) return command
        val core = CompanionService.getInstance(project).awaitCore()
        core?.request(ServerMessage.Environment)?.let { envs.putAll(it.env) }
        return command
    }
}
