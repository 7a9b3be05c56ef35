// Keeps the one server of a project, and stops it before the process ends.

package dev.companion.gemini.project

import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.core.ServerSettings

/**
 * Holds at most one server. Starting and stopping write files and may take seconds, so don't do it on the EDT.
 *
 * A shutdown hook of the JVM stops a server that still runs when the JVM ends. The platform's shutdown event would be
 * too early for a server that was passed to another thread, and does not happen if the process is terminated.
 */
internal class CoreSlot(private val launch: (ServerSettings) -> CompanionCore) {
    private class Running(
        val core: CompanionCore,
        val settings: ServerSettings,
    )

    /** Held while a server starts or stops, so that the next caller waits for it. */
    private val lock = Any()

    @Volatile
    private var running: Running? = null
    private var ended = false
    private val atExit = Thread(::end, "gemini-companion-exit")
    private var atExitAdded = false

    /** Any thread. */
    val core: CompanionCore? get() = running?.core

    /** Any thread. The server's settings, including later updates. */
    val settings: ServerSettings? get() = running?.settings

    /**
     * Ensures that a server with [wanted] runs, with the smallest change, but [restarts] it in any case if that is true.
     * With null, ensures that none runs.
     */
    fun bring(wanted: ServerSettings?, restarts: Boolean = false) =
        synchronized(lock) {
            val current = running
            when {
                wanted == null || ended -> stop()
                current != null && !restarts && canApply(current.settings, wanted) -> apply(current, wanted)
                else -> start(wanted)
            }
        }

    private fun stop() {
        val current = running
        running = null
        current?.core?.close()
    }

    /** Stops the server for good. A second call waits for the first. */
    fun end(): Unit =
        synchronized(lock) {
            ended = true
            stop()
            if (!atExitAdded) return
            atExitAdded = false
            try {
                Runtime.getRuntime().removeShutdownHook(atExit)
            } catch (_: IllegalStateException) {
                // The JVM is ending, perhaps by this call.
            }
        }

    private fun start(wanted: ServerSettings) {
        endWithProcess()
        running?.let { if (keepsClients(it.settings, wanted)) it.core.send(ServerMessage.Restarts) }
        stop()
        running = Running(launch(wanted), wanted)
    }

    /** Returns whether the next server finds the clients of the last one. Otherwise they must get a rejection first. */
    private fun keepsClients(old: ServerSettings, new: ServerSettings) =
        new.review && old.ideName == new.ideName && old.workspace.firstOrNull() == new.workspace.firstOrNull()

    private fun endWithProcess() {
        if (atExitAdded) return
        try {
            Runtime.getRuntime().addShutdownHook(atExit)
        } catch (e: IllegalStateException) {
            throw IllegalStateException("the IDE is closing", e)
        }
        atExitAdded = true
    }

    /** Returns whether a running server can take the change: roots, sharing, the review of every edit, and trust. */
    private fun canApply(old: ServerSettings, new: ServerSettings) =
        old == new.copy(
            workspace = old.workspace,
            shareContext = old.shareContext,
            reviewAll = old.reviewAll,
            trusted = old.trusted,
        )

    private fun apply(current: Running, wanted: ServerSettings) {
        val (core, old) = Pair(current.core, current.settings)
        if (wanted.shareContext != old.shareContext) core.send(ServerMessage.ShareContext(wanted.shareContext))
        if (wanted.reviewAll != old.reviewAll) core.send(ServerMessage.Review(wanted.reviewAll))
        if (wanted.workspace != old.workspace) core.send(ServerMessage.Folders(wanted.workspace))
        if (wanted.trusted != old.trusted) core.send(ServerMessage.Trust(wanted.trusted))
        running = Running(core, wanted)
    }
}
