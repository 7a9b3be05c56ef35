// Declares the natives of the library `companion_jni`, the boundary to Rust.

package dev.companion.gemini.core

/**
 * The natives of `rust/companion-jni`, as `natives.rs` has them.
 *
 * `core` is the number of a running server. If the server does not run, natives except [stop] throw an
 * [IllegalStateException]. A panic in Rust throws a [RuntimeException].
 *
 * Everything that an editor asks a running server is a request of the editor's protocol. Only the start, the end and the
 * check of settings are natives of their own: no server runs then.
 *
 * The event dispatch thread must not call [start], which writes files, [stop], which takes up to 2 s, and [notify] and
 * [request] with messages that [may wait][ServerMessage.mayWait]. The others return immediately.
 */
internal object NativeCore {
    /** Changes with every change of these natives or of [NativeCallbacks]. */
    const val ABI_VERSION = 9

    /** The library's [ABI_VERSION]. */
    @JvmStatic
    external fun abiVersion(): Int

    /** Starts a server and returns its number. [settings] is the JSON of a [ServerSettings]. */
    @JvmStatic
    external fun start(settings: String, callbacks: NativeCallbacks): Long

    /** Returns the error message for the first invalid setting; null if all are valid. */
    @JvmStatic
    external fun settingsProblem(settings: String): String?

    /**
     * Stops a server: rejects open diffs, except after `editor/restarts`, removes its discovery files, and ends its
     * threads. A second call does nothing.
     */
    @JvmStatic
    external fun stop(core: Long)

    /**
     * Sends a notification of the editor's protocol (docs/editor-protocol.md). [params] is JSON. [text] is UTF-8 and replaces
     * the long text in [params]; null if there is none.
     */
    @JvmStatic
    external fun notify(core: Long, method: String, params: String, text: ByteArray?)

    /**
     * Carries out a request of the editor's protocol, with arguments as in [notify]. Returns the answer as JSON in UTF-8;
     * null if the answer is an error.
     */
    @JvmStatic
    external fun request(core: Long, method: String, params: String, text: ByteArray?): ByteArray?

    /** [content] is the answer in UTF-8: the final text for `diff/close`, null for other requests about diffs, else JSON. */
    @JvmStatic
    external fun completeRequest(request: Long, content: ByteArray?)

    /** Fails a request. The CLI shows [message] to its user. */
    @JvmStatic
    external fun failRequest(request: Long, message: String)
}

/**
 * The calls from Rust for one server. They come from one thread, `gemini-companion-callbacks`, in causal order.
 *
 * Implementations return immediately and never call [NativeCore.start] or [NativeCore.stop].
 */
internal interface NativeCallbacks {
    /**
     * Carries out a request of the editor's protocol. [params] is JSON; [newContent] is the text of a proposal in UTF-8.
     *
     * The answer follows by [NativeCore.completeRequest] or [NativeCore.failRequest], within 30 s; for diagnostics within 3 s.
     */
    fun request(request: Long, method: String, params: String, newContent: ByteArray?)

    /** Receives a notification of the editor's protocol. [params] is JSON. */
    fun notify(method: String, params: String)

    /** Writes a line to the IDE's log. [level] is 1 (error) to 5 (trace). */
    fun log(level: Int, message: String)
}
