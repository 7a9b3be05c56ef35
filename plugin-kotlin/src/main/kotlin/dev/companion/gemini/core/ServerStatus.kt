// Owns what a server has to say about itself, in the shape of `Status` in rust/companion-protocol.

package dev.companion.gemini.core

/** Comes from Rust as JSON. What that leaves out is as it is here, for a server that does not run. */
data class ServerStatus(
    /** The port of all addresses. */
    val port: Int = 0,
    /** All addresses at which it listens, with port; loopback is the first. */
    val listening: List<String> = emptyList(),
    /** Where it does not listen although it was to: a sentence for each address. */
    val notListening: List<String> = emptyList(),
    /** The file by which CLIs find it; absent if it could not be written. */
    val discoveryFile: String? = null,
    /** How many CLIs are connected. */
    val connected: Int = 0,
    /** How many proposals wait for a decision. */
    val openDiffs: Int = 0,
)
