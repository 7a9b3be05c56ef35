// Keeps the settings and their limits.

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

/** Who decides whether a project is trusted. */
enum class TrustSetting { IDE, CLI }

/** Any thread. */
@State(name = "CompanionForGeminiCli", storages = [Storage("companion-for-gemini-cli.xml")])
class CompanionSettings : PersistentStateComponent<CompanionSettings.Values> {
    /** Stored as XML, which needs variable members. Values in use never change. */
    data class Values(
        /** Whether CLIs receive open files and the selection. */
        var context: Boolean = true,
        /** Whether edits are reviewed in the IDE. */
        var review: Boolean = true,
        /** Whether CLIs receive the IDE's diagnostics. */
        var diagnostics: Boolean = true,
        /** Whether Gemini CLI and Qwen Code can find the projects. */
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
        /** Whether the project's files are saved before each prompt. */
        var saveFiles: Boolean = true,
        /** Whether the user is notified when a CLI waits or has finished. */
        var notifyCli: Boolean = true,
        /** Whether CLIs in other worktrees of a project's Git repository connect, too. */
        var worktrees: Boolean = true,
        /** Whether CLIs receive nothing about files that Git ignores. */
        var gitIgnoredPrivate: Boolean = false,
    ) {
        fun clients(): List<Client> = listOfNotNull(Client.GEMINI.takeIf { gemini }, Client.QWEN.takeIf { qwen })

        fun server() =
            ServerSettings(
                worktrees = worktrees,
                gitIgnoredPrivate = gitIgnoredPrivate,
                review = review,
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

    /** The file may contain invalid values, because users can edit it. */
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

        /** In megabytes. A request crosses into Java as one array of at most 2 GB. */
        val BODY_LIMITS = 1..1024

        /** Splits a list at commas and spaces. */
        fun words(list: String): List<String> =
            list.split(',', ';', ' ', '\t', '\n').filter(String::isNotEmpty).distinct()

        /** On the application's message bus. */
        val TOPIC: Topic<Listener> = Topic.create("Settings of the companion", Listener::class.java)

        fun getInstance(): CompanionSettings = Platform.service(CompanionSettings::class.java)
    }
}
