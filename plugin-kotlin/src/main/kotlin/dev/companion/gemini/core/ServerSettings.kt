// Declares the settings of a server, in the shape of `Settings` in rust/companion-protocol.

package dev.companion.gemini.core

import com.google.gson.annotations.SerializedName

/** The server's log level: the names of Rust's `log::LevelFilter`. */
enum class LogLevel { OFF, ERROR, WARN, INFO, DEBUG, TRACE }

/** A CLI that can find the server: the names of Rust's client profiles. */
enum class Client {
    @SerializedName("gemini")
    GEMINI,

    @SerializedName("qwen")
    QWEN,
}

/** Goes to Rust as JSON, under these names. A null is omitted and gets Rust's default. */
data class ServerSettings(
    /** The roots of the workspace, absolute. */
    val workspace: List<String> = emptyList(),
    /** For the CLI; it shows the display name, and this one only to itself. */
    val ideName: String? = null,
    val ideDisplayName: String? = null,
    /** The clients that are to find it. */
    val clients: List<Client> = Client.entries,
    /** Whether the user trusts the workspace; null leaves that to the CLI. */
    val trusted: Boolean? = null,
    /** Whether edits are reviewed in the IDE. */
    val diffs: Boolean = true,
    /** Whether CLIs may ask for the problems that the IDE knows. */
    val diagnostics: Boolean = true,
    /** Whether CLIs receive no context and no problems for now. Edits are still reviewed. */
    val silent: Boolean = false,
    /** Whether it resumes the last server of this folder, so that CLIs stay connected. */
    val resume: Boolean = false,
    /** Addresses of this machine to listen on besides loopback. One that is not there is no failure. */
    val listen: List<String> = emptyList(),
    /** Further host names of this machine that clients may use. */
    val allowedHosts: List<String> = emptyList(),
    /** The largest request, in megabytes. */
    val bodyLimit: Int = 64,
    val logLevel: LogLevel = LogLevel.WARN,
)
