// Keeps the settings and their bounds.

package dev.companion.gemini.project

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.components.PersistentStateComponent
import com.intellij.openapi.components.State
import com.intellij.openapi.components.Storage
import com.intellij.util.messages.Topic
import dev.companion.gemini.core.Client
import dev.companion.gemini.core.LogLevel
import dev.companion.gemini.core.ServerSettings
import dev.companion.gemini.platform.Platform

/** Who says whether a project is trusted. */
enum class TrustSetting { IDE, CLI }

/** Any thread. */
@State(name = "CompanionForGeminiCli", storages = [Storage("companion-for-gemini-cli.xml")])
class CompanionSettings : PersistentStateComponent<CompanionSettings.Values> {
    /** Kept as XML: members are variable for that, but the values in use never change. */
    data class Values(
        /** Whether CLIs receive open files and the selection. */
        var context: Boolean = true,
        /** Whether edits are reviewed in the IDE. */
        var diffs: Boolean = true,
        /** Whether CLIs receive the problems that the IDE finds. */
        var diagnostics: Boolean = true,
        /** Whether Gemini CLI is to find the projects, and whether Qwen Code is. */
        var gemini: Boolean = true,
        var qwen: Boolean = true,
        var trust: TrustSetting = TrustSetting.IDE,
        /** The largest request. */
        var bodyLimitMegabytes: Int = ServerSettings().bodyLimit,
        var logLevel: LogLevel = LogLevel.INFO,
        /** The command that runs in the terminal. */
        var cliCommand: String = DEFAULT_COMMAND,
        /** Addresses of this machine to listen on besides loopback; see [words]. */
        var listenAddresses: String = "",
        /** Further host names of this machine that clients may use; see [words]. */
        var allowedHosts: String = "",
    ) {
        fun clients(): List<Client> = listOfNotNull(Client.GEMINI.takeIf { gemini }, Client.QWEN.takeIf { qwen })

        /** The settings of the server. */
        fun server() =
            ServerSettings(
                diffs = diffs,
                diagnostics = diagnostics,
                clients = clients(),
                bodyLimit = bodyLimitMegabytes,
                logLevel = logLevel,
                allowedHosts = words(allowedHosts),
                listen = words(listenAddresses),
            )
    }

    @Volatile
    var values = Values()
        private set

    override fun getState(): Values = values

    /** A file may hold anything, for it can be edited by hand. */
    override fun loadState(state: Values) =
        set(
            state.copy(
                gemini = state.gemini || !state.qwen,
                bodyLimitMegabytes = state.bodyLimitMegabytes.coerceIn(BODY_LIMITS),
                cliCommand = state.cliCommand.ifBlank { DEFAULT_COMMAND },
            ),
        )

    /** Applies [changed] and notifies all listeners, on this thread. */
    fun set(changed: Values) {
        if (changed == values) return
        values = changed.copy()
        ApplicationManager.getApplication().messageBus.syncPublisher(TOPIC).settingsChanged()
    }

    fun interface Listener {
        fun settingsChanged()
    }

    companion object {
        const val DEFAULT_COMMAND = "gemini"

        /** In megabytes. A request crosses into Java as one array, which may have 2 GB. */
        val BODY_LIMITS = 1..1024

        /** The words of a list, which users separate by commas or spaces. */
        fun words(list: String): List<String> =
            list.split(',', ';', ' ', '\t', '\n').filter(String::isNotEmpty).distinct()

        /** On the application's message bus. */
        val TOPIC: Topic<Listener> = Topic.create("Settings of the companion", Listener::class.java)

        fun getInstance(): CompanionSettings = Platform.service(CompanionSettings::class.java)
    }
}
