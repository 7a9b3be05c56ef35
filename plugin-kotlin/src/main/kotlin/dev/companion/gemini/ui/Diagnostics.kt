// Owns the text that users put into a report of a problem: all that helps, nothing secret.

package dev.companion.gemini.ui

import com.intellij.openapi.application.ApplicationInfo
import com.intellij.openapi.application.ApplicationNamesInfo
import com.intellij.openapi.project.Project
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.project.CompanionService
import dev.companion.gemini.project.CompanionSettings
import dev.companion.gemini.project.CompanionState
import dev.companion.gemini.terminal.CliTerminal

/**
 * Not translated: its readers are developers. It has no token, no folder or file of the project's, and of the CLI's
 * command only whether it was changed, since a command may have a key in it.
 */
internal object Diagnostics {
    const val PLUGIN_ID = "dev.companion.gemini"

    /** Any thread. */
    fun of(project: Project): String {
        val service = CompanionService.getInstance(project)
        val settings = CompanionSettings.getInstance().values
        val build = ApplicationInfo.getInstance().build.asString()
        val command = if (settings.cliCommand == CompanionSettings.DEFAULT_COMMAND) "default" else "changed"
        val lines = listOf("Companion for Gemini CLI ${Platform.pluginVersion(PLUGIN_ID) ?: "(version unknown)"}") +
            line("IDE", "${ApplicationNamesInfo.getInstance().fullProductName} $build") +
            line("System", properties("os.name", "os.version", "os.arch")) +
            line("Java", properties("java.vm.name", "java.version")) +
            state(service) +
            line("Folders", service.rootCount) +
            line("Trust", Platform.isTrusted(project)?.let { if (it) "trusted" else "not trusted" } ?: "unknown to the IDE") +
            line("Terminal", if (CliTerminal.find() == null) "absent" else "present") +
            line(
                "Settings",
                "context ${onOff(settings.context)}, diffs ${onOff(settings.diffs)}, trust by ${settings.trust}, " +
                    "limit ${settings.bodyLimitMegabytes} MB, log ${settings.logLevel}, command $command",
            )
        return lines.joinToString("\n", postfix = "\n")
    }

    private fun state(service: CompanionService): List<String> = when (val state = service.state) {
        CompanionState.Off -> line("Server", "off")
        CompanionState.Starting -> line("Server", "starting")
        is CompanionState.Failed -> line("Server", "failed: ${state.message}")
        is CompanionState.Running ->
            line("Server", "running on port ${state.port}") +
                line("Discovery file", state.discoveryFile ?: "could not be written") +
                line("Connected", state.connected) +
                line("Open proposals", service.core?.openDiffs ?: 0)
    }

    private fun line(name: String, value: Any) = listOf("$name: $value")

    private fun properties(vararg names: String) = names.joinToString(" ") { System.getProperty(it).orEmpty() }

    private fun onOff(value: Boolean) = if (value) "on" else "off"
}
