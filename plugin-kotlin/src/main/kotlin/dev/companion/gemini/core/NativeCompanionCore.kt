// Calls one server behind the boundary: converts values, and drops its number when it is closed.

package dev.companion.gemini.core

import com.google.gson.Gson
import com.google.gson.JsonObject
import java.util.concurrent.atomic.AtomicLong
import java.util.logging.Level

/** Receives the lines that Rust logs. [level] is a level of java.util.logging. */
fun interface LogSink {
    fun log(level: Level, message: String)
}

class NativeCompanionCore private constructor(
    private val editor: EditorHost,
    private val log: LogSink,
) : CompanionCore {
    /** The server's number. It is 0 before the start and after [close]. */
    private val core = AtomicLong()

    @Volatile
    override var isClosed = false
        private set

    override val status: ServerStatus get() = request("companion/status") ?: ServerStatus()
    override val terminalEnvironment: Map<String, String>
        get() = request<TerminalEnvironment>("companion/environment")?.env.orEmpty()

    override fun diagnosis(): String {
        assertNotEdt()
        return request<Diagnosis>("companion/diagnosis")?.text.orEmpty()
    }

    override fun fileOpened(path: String) = send("editor/opened", mapOf("path" to path))

    override fun fileClosed(path: String) = send("editor/closed", mapOf("path" to path))

    override fun fileFocused(path: String) = send("editor/focused", mapOf("path" to path))

    override fun caretMoved(path: String, line: Int, character: Int) =
        send("editor/cursor", mapOf("path" to path, "line" to line, "character" to character))

    override fun selectionChanged(path: String, text: String) =
        send("editor/selection", mapOf("path" to path, "text" to ""), text)

    override fun fileRenamed(from: String, to: String) = send("editor/renamed", mapOf("from" to from, "to" to to))

    override fun fileDeleted(path: String) = send("editor/deleted", mapOf("path" to path))

    override fun rootsChanged(roots: List<String>) = send("workspace/folders", mapOf("paths" to roots))

    override fun trustChanged(trusted: Boolean) = send("workspace/trust", mapOf("trusted" to trusted))

    override fun sharingChanged(share: Boolean) = send("workspace/shareContext", mapOf("share" to share))

    override fun reviewChanged(all: Boolean) = send("workspace/review", mapOf("all" to all))

    override fun commentSet(comment: CommentOnLines) = send("comment/set", comment)

    override fun commentRemoved(id: String) = send("comment/removed", mapOf("id" to id))

    override fun textBefore(session: String, prompt: Long, path: String): ChangedText? {
        assertNotEdt()
        return request("agent/texts", mapOf("session" to session, "prompt" to prompt, "path" to path))
    }

    override fun hunks(session: String, prompt: Long, path: String): List<Hunk>? {
        assertNotEdt()
        val params = mapOf("session" to session, "prompt" to prompt, "path" to path)
        return request<Hunks>("agent/hunks", params)?.hunks
    }

    override fun revertPlan(files: List<FileToRevert>): RevertPlan? {
        assertNotEdt()
        return request("agent/revertPlan", mapOf("files" to files, "undoesDeletions" to true))
    }

    override fun changesReverted(session: String, prompt: Long, paths: List<String>, hunk: Hunk?) =
        send("agent/reverted", changes(session, prompt, paths, hunk))

    override fun revertUndone(session: String, prompt: Long, paths: List<String>, hunk: Hunk?) =
        send("agent/revertUndone", changes(session, prompt, paths, hunk))

    override fun changesKept(session: String, prompt: Long, paths: List<String>) =
        send("agent/kept", changes(session, prompt, paths))

    private fun changes(session: String, prompt: Long, paths: List<String>, hunk: Hunk? = null) =
        mapOf("session" to session, "prompt" to prompt, "paths" to paths) + listOfNotNull(hunk?.let { "hunk" to it })

    /** Held by a decision and by the beginning of [close], so that a server gets no decision while it stops. */
    private val deciding = Any()

    override fun diffAccepted(filePath: String, text: String) =
        synchronized(deciding) {
            val accepted = mapOf("filePath" to filePath, "content" to "")
            if (isClosed) null else request<Decided>("diff/accepted", accepted, text)?.delivery ?: Delivery.UNKNOWN
        }

    override fun diffRejected(filePath: String, reason: String?) =
        synchronized(deciding) {
            val rejected = mapOf("filePath" to filePath) + listOfNotNull(reason?.let { "reason" to it })
            if (!isClosed) send("diff/rejected", rejected)
            !isClosed
        }

    /** After [close] the next server sends the acceptance. */
    override fun withdrawAcceptance(filePath: String) =
        request<Withdrawn>("diff/withdraw", mapOf("filePath" to filePath))?.withdrawn ?: false

    override fun resume(shown: List<ShownProposal>): List<ResumedProposal> {
        assertNotEdt()
        return request<Resumed>("diff/resume", mapOf("proposals" to shown))?.proposals.orEmpty()
    }

    override fun restarts() = send("editor/restarts", NOTHING)

    override fun close() {
        synchronized(deciding) { isClosed = true }
        NativeCore.stop(core.getAndSet(0))
    }

    private fun send(method: String, params: Any, text: String? = null) {
        call { NativeCore.notify(it, method, GSON.toJson(params), text?.toByteArray()) }
    }

    /** Returns null if the answer is an error, or if the server is closed. */
    private inline fun <reified T> request(method: String, params: Any = NOTHING, text: String? = null): T? =
        call { NativeCore.request(it, method, GSON.toJson(params), text?.toByteArray()) }
            ?.let { GSON.fromJson(it.decodeToString(), T::class.java) }

    /** Calls the server. Returns null if it is closed, even if that happens during the call. */
    private fun <T> call(native: (Long) -> T): T? {
        val id = core.get()
        if (id == 0L) return null
        return try {
            native(id)
        } catch (e: IllegalStateException) {
            if (core.get() == id) throw e
            null
        }
    }

    private class TerminalEnvironment(val env: Map<String, String>)

    private class Diagnosis(val text: String)

    private class Hunks(val hunks: List<Hunk>)

    private class Decided(val delivery: Delivery)

    private class Withdrawn(val withdrawn: Boolean)

    private class Resumed(val proposals: List<ResumedProposal>)

    private inner class Callbacks : NativeCallbacks {
        override fun request(request: Long, method: String, params: String, newContent: ByteArray?) {
            val asked = Request(request)
            val message = when (method) {
                "diff/open" -> EditorMessage.Open(asked, openDiff(params, newContent))
                "diff/close" -> EditorMessage.Close(asked, filePath(params), json(params).has("abandoned"))
                "diff/accept" -> EditorMessage.Accept(asked, filePath(params))
                "diff/reject" -> EditorMessage.Reject(asked, filePath(params))
                "editor/diagnostics" -> EditorMessage.FindDiagnostics(Responder(request), diagnosticsRequest(params))
                "editor/unsaved" -> EditorMessage.ListUnsaved { completeRequest(request, mapOf("paths" to it)) }
                else -> return asked.fail("The plugin does not know the request $method.")
            }
            editor.receive(this@NativeCompanionCore, message)
        }

        override fun notify(method: String, params: String) {
            val type = EditorMessage.NOTIFICATIONS[method] ?: return
            editor.receive(this@NativeCompanionCore, GSON.fromJson(params, type))
        }

        override fun log(level: Int, message: String) = log.log(LEVELS[level], message)
    }

    /** Needs no server's number, because the server may send a request before [start] has returned the number. */
    private class Request(private val number: Long) : EditorRequest {
        override fun complete(text: String?) = NativeCore.completeRequest(number, text?.toByteArray())

        override fun fail(message: String) = NativeCore.failRequest(number, message)
    }

    private class Responder(private val number: Long) : DiagnosticsResponder {
        override fun complete(diagnostics: Diagnostics) = completeRequest(number, diagnostics)

        override fun fail(message: String) = NativeCore.failRequest(number, message)
    }

    companion object {
        /**
         * Starts a server in the library that [NativeLibrary.load] loaded. Writes files, so don't call it on the EDT.
         */
        fun start(settings: ServerSettings, editor: EditorHost, log: LogSink): CompanionCore {
            assertNotEdt()
            val started = NativeCompanionCore(editor, log)
            val id = NativeCore.start(GSON.toJson(settings), started.Callbacks())
            started.core.set(id)
            return started
        }

        /** Returns the error message for the first invalid setting, for the user; null if all are valid. */
        fun problem(settings: ServerSettings): String? = NativeCore.settingsProblem(GSON.toJson(settings))

        private val GSON = Gson()
        private val NOTHING = emptyMap<String, String>()

        /** Indexed by the numbers of Rust's `log::Level`: error is 1. */
        private val LEVELS = arrayOf(Level.OFF, Level.SEVERE, Level.WARNING, Level.INFO, Level.FINE, Level.FINER)

        private fun json(params: String) = GSON.fromJson(params, JsonObject::class.java)

        private fun filePath(params: String) = json(params)["filePath"].asString

        private fun openDiff(params: String, newContent: ByteArray?) =
            GSON.fromJson(params, OpenDiff::class.java).copy(newContent = newContent!!.decodeToString())

        private fun diagnosticsRequest(params: String) = GSON.fromJson(params, DiagnosticsRequest::class.java)

        private fun completeRequest(request: Long, result: Any) =
            NativeCore.completeRequest(request, GSON.toJson(result).toByteArray())
    }
}
