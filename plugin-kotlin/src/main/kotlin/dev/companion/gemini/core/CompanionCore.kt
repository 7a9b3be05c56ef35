// Declares a server as the rest of the plugin sees it.

package dev.companion.gemini.core

/** The delivery of a decision. The order is that of `Delivery` in Rust. */
enum class Delivery {
    /** The CLI is connected and receives it. */
    DELIVERED,

    /** The CLI is disconnected; it receives the decision when it reconnects. */
    QUEUED,

    /** Nobody waits for it any more. */
    UNKNOWN,
}

/** A request of a CLI's to the editor about a proposal; each is answered once, by [complete] or [fail]. */
interface EditorRequest {
    /** Done. [text] is the proposal's, and only asked for by [EditorRequests.closeDiff]. */
    fun complete(text: String? = null)

    /** Not done; the CLI shows [message] to its user. */
    fun fail(message: String)
}

/** The way to answer a [DiagnosticsRequest], once, by [complete] or [fail]. */
interface DiagnosticsResponder {
    fun complete(diagnostics: Diagnostics)

    /** Fails the request; the model reads [message]. */
    fun fail(message: String)
}

/**
 * The requests of CLIs to the editor. All calls come from one thread of the server and return at
 * once.
 */
interface EditorRequests {
    /** Show a proposal, in place of one that shows for the same path. Its decision is for [core], perhaps not started yet. */
    fun openDiff(core: CompanionCore, request: EditorRequest, diff: OpenDiff)

    /** Close the proposal for [filePath] without a decision, and complete with its text. */
    fun closeDiff(request: EditorRequest, filePath: String)

    /** Accept in the user's place, and write the file. */
    fun acceptDiff(request: EditorRequest, filePath: String)

    /** Reject in the user's place. */
    fun rejectDiff(request: EditorRequest, filePath: String)

    /**
     * Reports the problems of files, for the texts on the disk: those that are known within 2.5 s.
     */
    fun diagnostics(responder: DiagnosticsResponder, asked: DiagnosticsRequest)

    /** So many CLIs are connected now. */
    fun connectedChanged(count: Int)
}

/**
 * A running server. Once closed, events are ignored: listeners may still be on their way.
 *
 * Paths are absolute and in the system's own form, as the CLI writes them.
 */
interface CompanionCore : AutoCloseable {
    val isClosed: Boolean

    /** The server's status; after it closed, the status of a server that does not run. */
    val status: ServerStatus

    /** Variables for terminals, so that the CLI finds the server. Contains the token. */
    val terminalEnvironment: Map<String, String>

    /**
     * The report of `gemini-companion doctor` for a CLI in the IDE's terminal; empty after close.
     * It contains names of folders but no token. Takes seconds: not for the EDT.
     */
    fun diagnosis(): String

    fun fileOpened(path: String)

    fun fileClosed(path: String)

    fun fileFocused(path: String)

    /** Both 1-based; [character] counts UTF-16 units from the start of the line. */
    fun caretMoved(path: String, line: Int, character: Int)

    /** At most [MAX_SELECTION] characters are looked at; empty clears it. */
    fun selectionChanged(path: String, text: String)

    /** A file or directory. */
    fun fileRenamed(from: String, to: String)

    /** A file or directory. */
    fun fileDeleted(path: String)

    /** Writes a file. */
    fun rootsChanged(roots: List<String>)

    fun trustChanged(trusted: Boolean)

    /** Whether CLIs receive no context and no problems. */
    fun silenceChanged(silent: Boolean)

    fun diffAccepted(filePath: String, text: String): Delivery

    fun diffRejected(filePath: String): Delivery

    /**
     * Turns an acceptance that is [Delivery.QUEUED] into a rejection, because the text is about to be written here: the CLI
     * would make the edit a second time. Returns whether it is certain that the CLI does not.
     */
    fun withdrawAcceptance(filePath: String): Boolean

    /** Stops it, within 2 s. */
    override fun close()

    companion object {
        /** The longest selection that the CLI receives, in UTF-16 units. */
        const val MAX_SELECTION = 16_384
    }
}
