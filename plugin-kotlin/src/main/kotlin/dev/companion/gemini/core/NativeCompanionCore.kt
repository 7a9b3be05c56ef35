// Calls one server behind the boundary: converts values, and drops its number when it is closed.

package dev.companion.gemini.core

import com.google.gson.Gson

class NativeCompanionCore private constructor(
    private val editor: EditorHost,
    /** Receives the lines that Rust logs. */
    private val logLine: (LogLevel, String) -> Unit,
) : CompanionCore {
    /** The server's number; 0 before the start, and [CLOSED] after [close]. */
    @Volatile
    private var core = 0L

    override val isClosed get() = core == CLOSED

    /** Held by a decision and by the beginning of [close], so that a server gets no decision while it stops. */
    private val closing = Any()

    override fun send(notification: ServerMessage.Notification) = call(notification, NativeCore::notify) != null

    override fun <A> request(request: ServerMessage.Request<A>): A? =
        call(request, NativeCore::request)?.let { GSON.fromJson(it.decodeToString(), request.answer) }

    private fun <T> call(message: ServerMessage, native: (Long, String, String, ByteArray?) -> T): T? {
        if (message.mayWait) assertNotEdt()
        if (message !is ServerMessage.Decision) return callIfOpen(message, native)
        return synchronized(closing) { callIfOpen(message, native) }
    }

    /** Calls the server. Returns null if it is closed, even if that happens during the call. */
    private fun <T> callIfOpen(message: ServerMessage, native: (Long, String, String, ByteArray?) -> T): T? {
        val id = core
        if (id == 0L || id == CLOSED) return null
        return try {
            native(id, message.method, GSON.toJson(message.params), message.longText?.toByteArray())
        } catch (e: IllegalStateException) {
            if (core == id) throw e
            null
        }
    }

    override fun close() {
        val id = synchronized(closing) { core.also { core = CLOSED } }
        NativeCore.stop(id)
    }

    private inner class Callbacks : NativeCallbacks {
        override fun request(request: Long, method: String, params: String, newContent: ByteArray?) {
            val responder = NativeResponder(request)
            val type = EditorMessage.REQUESTS[method]
                ?: return responder.fail("The plugin does not know the request $method.")
            var message: EditorMessage.Request<*> = GSON.fromJson(params, type)
            if (message is OpenDiff) message = message.copy(newContent = newContent!!.decodeToString())
            message.arrive(responder)
            editor.receive(this@NativeCompanionCore, message)
        }

        override fun notify(method: String, params: String) {
            val type = EditorMessage.NOTIFICATIONS[method] ?: return
            editor.receive(this@NativeCompanionCore, GSON.fromJson(params, type))
        }

        override fun log(level: Int, message: String) = logLine(LogLevel.entries[level], message)
    }

    /** Needs no server's number, because the server may send a request before [start] has returned the number. */
    private class NativeResponder(private val request: Long) : Responder<Any?> {
        /** A text crosses the boundary as it is, and any other answer as JSON. */
        override fun complete(answer: Any?) {
            val content = if (answer is String?) answer else GSON.toJson(answer)
            NativeCore.completeRequest(request, content?.toByteArray())
        }

        override fun fail(message: String) = NativeCore.failRequest(request, message)
    }

    companion object {
        /**
         * Starts a server in the library that [NativeLibrary.load] loaded. Writes files, so don't call it on the EDT.
         */
        fun start(settings: ServerSettings, editor: EditorHost, logLine: (LogLevel, String) -> Unit): CompanionCore {
            assertNotEdt()
            val started = NativeCompanionCore(editor, logLine)
            started.core = NativeCore.start(GSON.toJson(settings), started.Callbacks())
            return started
        }

        /** Returns the error message for the first invalid setting, for the user; null if all are valid. */
        fun problem(settings: ServerSettings): String? = NativeCore.settingsProblem(GSON.toJson(settings))

        private const val CLOSED = -1L
        private val GSON = Gson()
    }
}
