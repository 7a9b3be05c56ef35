// Declares the natives of the library `companion_jni`, the boundary to Rust.

package dev.companion.gemini.core

/**
 * The natives of `rust/companion-jni` (see `natives.rs`, which is checked against these when it is compiled).
 *
 * `core` is the number of a running server. One that is not running is an [IllegalStateException], but for [stop].
 * A panic in Rust is a [RuntimeException]. Nothing here waits, but for [start] (files), [workspaceChanged] (a file),
 * [diagnosis] (seconds) and [stop] (2 s at most): those are never called on the event dispatch thread where it could wait for them.
 */
internal object NativeCore {
    /** Changes with every change of these natives or of [NativeCallbacks]. */
    const val ABI_VERSION = 6

    /** The library's [ABI_VERSION]. */
    @JvmStatic
    external fun abiVersion(): Int

    /** Starts a server and returns its number. [settings] is the JSON of a [ServerSettings]. */
    @JvmStatic
    external fun start(settings: String, callbacks: NativeCallbacks): Long

    /** What is wrong with the first of [settings] that is; null if none is. */
    @JvmStatic
    external fun settingsProblem(settings: String): String?

    /** Stops a server: open diffs are rejected, its file goes, its threads end. Twice is fine. */
    @JvmStatic
    external fun stop(core: Long)

    @JvmStatic
    external fun fileOpened(core: Long, path: String)

    @JvmStatic
    external fun fileClosed(core: Long, path: String)

    @JvmStatic
    external fun fileFocused(core: Long, path: String)

    /** [line] and [character] are 1-based; [character] counts UTF-16 units. */
    @JvmStatic
    external fun caretMoved(core: Long, path: String, line: Int, character: Int)

    /** [text] is UTF-8; empty clears the selection. */
    @JvmStatic
    external fun selectionChanged(core: Long, path: String, text: ByteArray)

    @JvmStatic
    external fun fileRenamed(core: Long, from: String, to: String)

    @JvmStatic
    external fun fileDeleted(core: Long, path: String)

    @JvmStatic
    external fun workspaceChanged(core: Long, roots: Array<String>)

    @JvmStatic
    external fun trustChanged(core: Long, trusted: Boolean)

    @JvmStatic
    external fun silenceChanged(core: Long, silent: Boolean)

    /** [content] is UTF-8, and only given to complete [NativeCallbacks.closeDiff] and [NativeCallbacks.diagnostics]. */
    @JvmStatic
    external fun completeRequest(request: Long, content: ByteArray?)

    /** [message] is what the CLI tells its user. */
    @JvmStatic
    external fun failRequest(request: Long, message: String)

    /** [content] is UTF-8, and given if [accepted]. Returns the ordinal of a [Delivery]. */
    @JvmStatic
    external fun diffResolved(core: Long, filePath: String, accepted: Boolean, content: ByteArray?): Int

    @JvmStatic
    external fun withdrawAcceptance(core: Long, filePath: String): Boolean

    /** Names and values in turn. */
    @JvmStatic
    external fun terminalEnvironment(core: Long): Array<String>

    /** Whether a CLI in the IDE's terminal would connect, and why not. Asks companions, for a few seconds at most. */
    @JvmStatic
    external fun diagnosis(core: Long): String

    /** The JSON of a [ServerStatus]. */
    @JvmStatic
    external fun status(core: Long): String
}

/**
 * What Rust calls: always on its own thread, `gemini-companion-callbacks`, in the order in which things happened.
 * Implementations return at once and never call [NativeCore.start] or [NativeCore.stop].
 *
 * Requests are answered later, by [NativeCore.completeRequest] or [NativeCore.failRequest], within 30 s; problems within 3 s.
 */
internal interface NativeCallbacks {
    /** Show a proposal, [newContent] in UTF-8 and the rest the JSON of an [OpenDiff]; complete the request then. */
    fun openDiff(request: Long, diff: String, newContent: ByteArray)

    /** Close the view without a decision; complete the request with the proposal's text. */
    fun closeDiff(request: Long, filePath: String)

    /** Accept in the user's place and write the file; then complete the request. */
    fun acceptDiff(request: Long, filePath: String)

    /** Reject in the user's place; then complete the request. */
    fun rejectDiff(request: Long, filePath: String)

    /** Tell the problems of files: [asked] is the JSON of a [DiagnosticsRequest], the answer that of [Diagnostics]. */
    fun diagnostics(request: Long, asked: String)

    /** So many CLIs are connected now. */
    fun sessionsChanged(count: Int)

    /** A line for the IDE's log; [level] is 1, error, to 5, trace. */
    fun log(level: Int, message: String)
}
