// Declares the status of a server, in the shape of `Status` in rust/companion-protocol.

package dev.companion.gemini.core

/** Comes from Rust as JSON. The defaults are those of a server that does not run. */
data class ServerStatus(
    /** The port of all addresses. */
    val port: Int = 0,
    /** All addresses of the server, with port; loopback is the first. */
    val listening: List<String> = emptyList(),
    /** Where it does not listen although it was to: a sentence for each address. */
    val notListening: List<String> = emptyList(),
    /** The discovery files; none for clients that nobody here uses. */
    val discoveryFiles: List<DiscoveryFile> = emptyList(),
    /** How many CLIs are connected. */
    val connected: Int = 0,
    /** How many proposals wait for a decision. */
    val openDiffs: Int = 0,
    /** The open files that an ignore file keeps private; the focused file is among them. */
    val privateFiles: List<String> = emptyList(),
)

/** A discovery file for one kind of CLI. */
data class DiscoveryFile(
    /** The client's name in [ServerSettings]. */
    val client: String = "",
    val path: String = "",
    /** Whether it is there; if it could not be written, the log says why. */
    val inPlace: Boolean = false,
)
