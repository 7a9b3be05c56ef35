// Collects the health report, which users add to a problem report. It contains no secrets.

package dev.companion.gemini.ui

import com.intellij.ide.plugins.PluginManager
import com.intellij.openapi.application.ApplicationInfo
import com.intellij.openapi.application.ApplicationNamesInfo
import com.intellij.openapi.extensions.PluginId
import com.intellij.openapi.project.Project
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.loggingFailure
import dev.companion.gemini.project.CompanionService
import dev.companion.gemini.project.CompanionSettings
import dev.companion.gemini.project.CompanionState
import dev.companion.gemini.terminal.CliTerminal

/**
 * Not translated, because developers read it. It contains no token. Of the project it contains only the paths of its
 * folders and of discovery files. Of the CLI's command it contains only whether the user changed it, because a
 * command may contain a key.
 */
internal object HealthReport {
    /** Takes seconds, so don't call it on the EDT. */
    fun of(project: Project): String {
        val service = CompanionService.getInstance(project)
        val lines = listOf(
            versions(),
            server(service.presentState),
            "Folders: ${service.roots.size}",
            "Trusted: ${Platform.isTrusted(project) ?: "unknown to the IDE"}",
            "Terminal: ${CliTerminal.find() != null}",
            "Settings: ${settings(CompanionSettings.getInstance().values)}",
        )
        var doctor = "The diagnosis failed; the IDE's log says why."
        loggingFailure("no diagnosis") { doctor = service.core?.request(ServerMessage.Diagnose)?.text.orEmpty() }
        return lines.joinToString("\n", postfix = "\n") + if (doctor.isEmpty()) "" else "\n$doctor"
    }

    /** Returns the versions of the plugin, the IDE and the system. */
    fun versions(): String {
        val plugin = PluginManager.getPlugin(PluginId.getId("dev.companion.gemini"))
        return listOf(
            "Companion for Gemini CLI ${plugin?.version}",
            "IDE: ${ApplicationNamesInfo.getInstance().fullProductName} ${ApplicationInfo.getInstance().build.asString()}",
            "System: ${properties("os.name", "os.version", "os.arch")}",
            "Java: ${properties("java.vm.name", "java.version")}",
        ).joinToString("\n")
    }

    private fun properties(vararg names: String) = names.joinToString(" ") { System.getProperty(it).orEmpty() }

    /** Names each field: the paths of private files must not get into a report. */
    private fun server(state: CompanionState): String {
        val status = (state as? CompanionState.Running)?.status ?: return "Companion: $state"
        return listOf(
            "Companion: running on port ${status.port}",
            "Listening: ${status.listening}",
            "Not listening: ${status.notListening}",
            "Discovery files: ${status.discoveryFiles}",
            "Connected: ${status.clis}",
            "Open proposals: ${status.openDiffs}",
        ).joinToString("\n")
    }

    /** Returns each setting, without a command, an address or a host of the user. */
    fun settings(values: CompanionSettings.Values): String {
        val command = if (values.cliCommand == CompanionSettings.DEFAULT_COMMAND) "default" else "changed"
        val addresses = CompanionSettings.words(values.listenAddresses).size
        val hosts = CompanionSettings.words(values.allowedHosts).size
        val shown = values.copy(cliCommand = command, listenAddresses = "$addresses set", allowedHosts = "$hosts set")
        return shown.toString()
    }
}
