// Declares the status of a server, in the shape of `Status` in rust/companion-protocol.

package dev.companion.gemini.core

/** Comes from Rust as JSON. What that leaves out is as it is here, for a server that does not run. */
data class ServerStatus(
    /** The port of all addresses. */
    val port: Int = 0,
    /** All addresses at which it listens, with port; loopback is the first. */
    val listening: List<String> = emptyList(),
    /** Where it does not listen although it was to: a sentence for each address. */
    val notListening: List<String> = emptyList(),
    /** The files by which CLIs find it; none for clients that nobody here uses. */
    val discoveryFiles: List<DiscoveryFile> = emptyList(),
    /** How many CLIs are connected. */
    val connected: Int = 0,
    /** How many proposals wait for a decision. */
    val openDiffs: Int = 0,
    /** The open files that are not told, because an ignore file names them; the one with the focus is among them. */
    val privateFiles: List<String> = emptyList(),
)

/** A file by which the CLIs of one sort find the server. */
data class DiscoveryFile(
    /** The client's name in [ServerSettings]. */
    val client: String = "",
    val path: String = "",
    /** Whether it is there; if it could not be written, the log says why. */
    val inPlace: Boolean = false,
)
