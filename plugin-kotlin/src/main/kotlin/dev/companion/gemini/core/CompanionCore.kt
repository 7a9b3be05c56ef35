// Declares a server as the rest of the plugin sees it, and the receiver of its messages.

package dev.companion.gemini.core

/** Answers a request of the server, once, by [complete] or [fail]. */
interface Responder<in A> {
    fun complete(answer: A)

    /** Fails the request. The CLI shows [message] to its user, or gives it to its model. */
    fun fail(message: String)
}

/** A running server. Any thread, also the EDT, except for messages that may wait. */
interface CompanionCore : AutoCloseable {
    val isClosed: Boolean

    /**
     * Returns false before the start and after [close], because listeners may send some. Then the next server can take a
     * decision.
     */
    fun send(notification: ServerMessage.Notification): Boolean

    /** Returns null if the answer is an error, and when [send] returns false. */
    fun <A> request(request: ServerMessage.Request<A>): A?

    /** Stops the server, within 2 s. Rejects the open proposals, except after [ServerMessage.Restarts]. */
    override fun close()
}

/** The server's status. After [CompanionCore.close] it is the status of a server that does not run. */
val CompanionCore.status: ServerStatus get() = request(ServerMessage.Status) ?: ServerStatus()

/**
 * Receives the messages of servers. Those of one server come from one thread, `gemini-companion-callbacks`, in causal
 * order, and [receive] must return at once. This also holds for messages that the editor causes, such as by
 * [ServerMessage.ChangesKept] on the EDT.
 */
fun interface EditorHost {
    fun receive(core: CompanionCore, message: EditorMessage)
}
