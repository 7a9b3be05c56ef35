// Calls one server behind the boundary: converts values, and forgets its number when it is closed.

package dev.companion.gemini.core

import com.google.gson.Gson
import java.util.concurrent.atomic.AtomicLong
import java.util.logging.Level

/** Takes the lines that Rust logs; [level] is one of java.util.logging. */
fun interface LogSink {
    fun log(level: Level, message: String)
}

class NativeCompanionCore private constructor(
    private val requests: EditorRequests,
    private val log: LogSink,
) : CompanionCore {
    /** The server's number; 0 before it has started, and once it is closed. */
    private val core = AtomicLong()

    @Volatile
    override var isClosed = false
        private set

    override val status: ServerStatus
        get() = ask(ServerStatus()) { GSON.fromJson(NativeCore.status(it), ServerStatus::class.java) }
    override val terminalEnvironment: Map<String, String>
        get() = ask(emptyMap()) { id ->
            NativeCore.terminalEnvironment(id).asList().chunked(2).associate { (name, value) -> name to value }
        }

    override fun diagnosis(): String {
        assertNotEdt()
        return ask("") { NativeCore.diagnosis(it) }
    }

    override fun fileOpened(path: String) = tell { NativeCore.fileOpened(it, path) }

    override fun fileClosed(path: String) = tell { NativeCore.fileClosed(it, path) }

    override fun fileFocused(path: String) = tell { NativeCore.fileFocused(it, path) }

    override fun caretMoved(path: String, line: Int, character: Int) =
        tell { NativeCore.caretMoved(it, path, line, character) }

    override fun selectionChanged(path: String, text: String) =
        tell { NativeCore.selectionChanged(it, path, text.toByteArray()) }

    override fun fileRenamed(from: String, to: String) = tell { NativeCore.fileRenamed(it, from, to) }

    override fun fileDeleted(path: String) = tell { NativeCore.fileDeleted(it, path) }

    override fun rootsChanged(roots: List<String>) = tell { NativeCore.workspaceChanged(it, roots.toTypedArray()) }

    override fun trustChanged(trusted: Boolean) = tell { NativeCore.trustChanged(it, trusted) }

    override fun silenceChanged(silent: Boolean) = tell { NativeCore.silenceChanged(it, silent) }

    override fun diffAccepted(filePath: String, text: String) =
        ask(Delivery.UNKNOWN) { delivery(NativeCore.diffResolved(it, filePath, true, text.toByteArray())) }

    override fun diffRejected(filePath: String) =
        ask(Delivery.UNKNOWN) { delivery(NativeCore.diffResolved(it, filePath, false, null)) }

    /** A server that is closed sends nothing more. */
    override fun withdrawAcceptance(filePath: String) = ask(true) { NativeCore.withdrawAcceptance(it, filePath) }

    override fun close() {
        isClosed = true
        NativeCore.stop(core.getAndSet(0))
    }

    private fun tell(event: (Long) -> Unit) = ask(Unit, event)

    /** Asks the server, or returns [otherwise] if it is closed, also in the very moment. */
    private fun <T> ask(otherwise: T, question: (Long) -> T): T {
        val id = core.get()
        if (id == 0L) return otherwise
        return try {
            question(id)
        } catch (e: IllegalStateException) {
            if (core.get() == id) throw e
            otherwise
        }
    }

    private inner class Callbacks : NativeCallbacks {
        override fun openDiff(request: Long, diff: String, newContent: ByteArray) {
            val read = GSON.fromJson(diff, OpenDiff::class.java).copy(newContent = newContent.decodeToString())
            requests.openDiff(this@NativeCompanionCore, Request(request), read)
        }

        override fun closeDiff(request: Long, filePath: String) = requests.closeDiff(Request(request), filePath)

        override fun acceptDiff(request: Long, filePath: String) = requests.acceptDiff(Request(request), filePath)

        override fun rejectDiff(request: Long, filePath: String) = requests.rejectDiff(Request(request), filePath)

        override fun diagnostics(request: Long, asked: String) =
            requests.diagnostics(Responder(request), GSON.fromJson(asked, DiagnosticsRequest::class.java))

        override fun sessionsChanged(count: Int) = requests.connectedChanged(count)

        override fun log(level: Int, message: String) = log.log(LEVELS[level], message)
    }

    /** Needs no server's number: the server asks before [start] has returned that. */
    private class Request(private val number: Long) : EditorRequest {
        override fun complete(text: String?) = NativeCore.completeRequest(number, text?.toByteArray())

        override fun fail(message: String) = NativeCore.failRequest(number, message)
    }

    private class Responder(private val number: Long) : DiagnosticsResponder {
        override fun complete(diagnostics: Diagnostics) =
            NativeCore.completeRequest(number, GSON.toJson(diagnostics).toByteArray())

        override fun fail(message: String) = NativeCore.failRequest(number, message)
    }

    companion object {
        /** Starts a server, in the library that [NativeLibrary.load] loaded. Writes files: not for the EDT. */
        fun start(settings: ServerSettings, requests: EditorRequests, log: LogSink): CompanionCore {
            assertNotEdt()
            val started = NativeCompanionCore(requests, log)
            val id = NativeCore.start(GSON.toJson(settings), started.Callbacks())
            started.core.set(id)
            return started
        }

        /** What is wrong with the first of [settings] that is, for the user; null if none is. */
        fun problem(settings: ServerSettings): String? = NativeCore.settingsProblem(GSON.toJson(settings))

        private val GSON = Gson()

        /** By the numbers of Rust's `log::Level`: error is 1. */
        private val LEVELS = arrayOf(Level.OFF, Level.SEVERE, Level.WARNING, Level.INFO, Level.FINE, Level.FINER)

        private fun delivery(ordinal: Int) = Delivery.entries[ordinal]
    }
}
