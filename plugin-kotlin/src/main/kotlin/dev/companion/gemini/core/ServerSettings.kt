// Declares a server's settings and status, in the shapes of `Settings` and `Status` in rust/companion-protocol.

package dev.companion.gemini.core

import com.google.gson.annotations.SerializedName

/** The server's log level: the names of Rust's `log::LevelFilter`, in the order of its numbers; error is 1. */
enum class LogLevel { OFF, ERROR, WARN, INFO, DEBUG, TRACE }

/** A CLI that can find the server: the names of Rust's client profiles. */
enum class Client {
    @SerializedName("gemini")
    GEMINI,

    @SerializedName("qwen")
    QWEN,
}

/** The settings as JSON for Rust, under these names. A null is omitted, which selects Rust's default. */
data class ServerSettings(
    /** The roots of the workspace, absolute. */
    val workspace: List<String> = emptyList(),
    /** The internal name for the CLI, which shows users the display name. */
    val ideName: String? = null,
    val ideDisplayName: String? = null,
    /** The clients that can find the server. */
    val clients: List<Client> = Client.entries,
    /** Whether the user trusts the workspace; null leaves that to the CLI. */
    val trusted: Boolean? = null,
    /** Whether the other worktrees of the workspace's Git repository belong to the workspace. */
    val worktrees: Boolean = true,
    /** Whether the files that Git ignores are private, too. */
    val gitIgnoredPrivate: Boolean = false,
    /** Whether edits are reviewed in the IDE. */
    val review: Boolean = true,
    /** Whether CLIs may request the IDE's diagnostics. */
    val diagnostics: Boolean = true,
    /** Whether CLIs receive context and diagnostics. If not, edits are still reviewed. */
    val shareContext: Boolean = true,
    /** Whether the user reviews each edit, even if Gemini CLI would not ask. */
    val reviewAll: Boolean = false,
    /** Whether the server resumes the last server of this folder, so that CLIs stay connected. */
    val resume: Boolean = false,
    /** Whether the IDE names the proposals of the last server that it shows. */
    val keepProposals: Boolean = false,
    /** Addresses of this machine to listen on besides loopback. The server also starts if one is missing. */
    val listen: List<String> = emptyList(),
    /** Further host names of this machine that clients may use. */
    val allowedHosts: List<String> = emptyList(),
    /** The largest request, in megabytes. */
    val bodyLimit: Int = 64,
    val logLevel: LogLevel = LogLevel.WARN,
)

/** The status from Rust, as JSON. The defaults are those of a server that does not run. */
data class ServerStatus(
    /** The port of all addresses. */
    val port: Int = 0,
    /** All addresses of the server, with port; loopback is the first. */
    val listening: List<String> = emptyList(),
    /** One sentence for each configured address where the server could not listen. */
    val notListening: List<String> = emptyList(),
    /** The discovery files; none for clients that are not used on this machine. */
    val discoveryFiles: List<DiscoveryFile> = emptyList(),
    /** The connected CLIs, and other connected clients. */
    val clis: List<ConnectedCli> = emptyList(),
    /** The number of proposals that wait for a decision. */
    val openDiffs: Int = 0,
    /** Why each open private file is private; the focused file is among them. */
    val privateFiles: Map<String, String> = emptyMap(),
)

/** A connected CLI, or another connected client. */
data class ConnectedCli(
    /** The CLI's text, or empty if it is unknown. */
    val name: String = "",
    val version: String = "",
    /** Whether it has hooks, and none has identified it yet. Then it can't be asked to show each edit. */
    val awaitsHook: Boolean = false,
)

/** A discovery file for one kind of CLI. */
data class DiscoveryFile(
    /** The client's name in [ServerSettings]. */
    val client: String = "",
    val path: String = "",
    /** Whether the file is in place. If it could not be written, the log has the reason. */
    val inPlace: Boolean = false,
)
