// Declares the status of a server, in the shape of `Status` in rust/companion-protocol.

package dev.companion.gemini.core

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
