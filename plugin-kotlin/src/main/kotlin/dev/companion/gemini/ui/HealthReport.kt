// Collects the health report, which users add to a problem report. It contains no secrets.

package dev.companion.gemini.ui

import com.intellij.openapi.application.ApplicationInfo
import com.intellij.openapi.application.ApplicationNamesInfo
import com.intellij.openapi.project.Project
import dev.companion.gemini.core.ConnectedCli
import dev.companion.gemini.core.DiscoveryFile
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.core.ServerStatus
import dev.companion.gemini.platform.Platform
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
            *server(service).toTypedArray(),
            "Folders: ${service.rootCount}",
            "Trust: ${trust(Platform.isTrusted(project))}",
            "Terminal: ${if (CliTerminal.find() == null) "absent" else "present"}",
            "Settings: ${settings(CompanionSettings.getInstance().values)}",
        )
        val doctor = service.core?.request(ServerMessage.Diagnose)?.text.orEmpty()
        return lines.joinToString("\n", postfix = "\n") + if (doctor.isEmpty()) "" else "\n$doctor"
    }

    /** Returns the versions of the plugin, the IDE and the system. */
    fun versions(): String =
        listOf(
            "Companion for Gemini CLI ${PluginVersion.get()}",
            "IDE: ${ApplicationNamesInfo.getInstance().fullProductName} ${ApplicationInfo.getInstance().build.asString()}",
            "System: ${properties("os.name", "os.version", "os.arch")}",
            "Java: ${properties("java.vm.name", "java.version")}",
        ).joinToString("\n")

    private fun server(service: CompanionService): List<String> =
        when (val state = service.presentState) {
            CompanionState.Off -> listOf("Companion: off")
            CompanionState.WelcomeScreen -> listOf("Companion: off, in a welcome screen")
            CompanionState.Remote -> listOf("Companion: off, in Remote Development")
            CompanionState.Starting -> listOf("Companion: starting")
            is CompanionState.Failed -> listOf("Companion: failed: ${state.message}")
            is CompanionState.Running -> running(state.status)
        }

    private fun running(status: ServerStatus) =
        listOf(
            "Companion: running on port ${status.port}",
            "Listening: ${ServerStateText.listening(status)}",
            *status.notListening.map { "Not listening: $it" }.toTypedArray(),
            *status.discoveryFiles.map(::discoveryFile).toTypedArray(),
            "Connected: ${connected(status.clis)}",
            "Open proposals: ${status.openDiffs}",
        )

    private fun connected(clis: List<ConnectedCli>): String {
        val names = clis.map { "${it.name} ${it.version}".trim() }.filter(String::isNotEmpty)
        return if (names.isEmpty()) "${clis.size}" else "${clis.size} (${names.joinToString(", ")})"
    }

    private fun discoveryFile(file: DiscoveryFile) =
        "Discovery file for ${file.client}: ${file.path}${if (file.inPlace) "" else " could not be written"}"

    private fun trust(trusted: Boolean?) =
        when (trusted) {
            null -> "unknown to the IDE"
            true -> "trusted"
            false -> "not trusted"
        }

    /** Returns each setting, without a command, an address or a host of the user. */
    fun settings(values: CompanionSettings.Values): String {
        val command = if (values.cliCommand == CompanionSettings.DEFAULT_COMMAND) "default" else "changed"
        val addresses = CompanionSettings.words(values.listenAddresses).size
        val hosts = CompanionSettings.words(values.allowedHosts).size
        val shown = values.copy(cliCommand = command, listenAddresses = "$addresses set", allowedHosts = "$hosts set")
        return shown.toString()
    }

    private fun properties(vararg names: String) = names.joinToString(" ") { System.getProperty(it).orEmpty() }
}
