// Declares a server as the rest of the plugin sees it.

package dev.companion.gemini.core

/** The delivery of a decision, in the order of `Delivery` in Rust. */
enum class Delivery {
    /** The CLI is connected and receives it. */
    DELIVERED,

    /** The CLI is disconnected. It receives the decision when it reconnects. */
    QUEUED,

    /** No CLI waits for it any more. */
    UNKNOWN,
}

/** The server's request to the editor about a proposal. Answer it once, by [complete] or [fail]. */
interface EditorRequest {
    /** Completes the request. Only [EditorRequests.closeDiff] needs [text], the proposal's text. */
    fun complete(text: String? = null)

    /** Fails the request. The CLI shows [message] to its user. */
    fun fail(message: String)
}

/** Answers a [DiagnosticsRequest], once, by [complete] or [fail]. */
interface DiagnosticsResponder {
    fun complete(diagnostics: Diagnostics)

    /** Fails the request; the model reads [message]. */
    fun fail(message: String)
}

/** Answers the request for unsaved files, once. */
fun interface UnsavedResponder {
    /** [paths] are those of the files whose text in the editor is not on the disk. */
    fun complete(paths: List<String>)
}

/**
 * The server's requests and notifications to the editor. All calls come from the thread `gemini-companion-callbacks`,
 * in causal order, and must return at once. This also holds for calls that the editor causes, such as by
 * [CompanionCore.changesKept] on the EDT.
 */
interface EditorRequests {
    /**
     * Shows a proposal, in place of an open one for the same path. The decision goes to [core], which may not have
     * started yet.
     */
    fun openDiff(core: CompanionCore, request: EditorRequest, diff: OpenDiff)

    /** Closes the proposal for [filePath] without a decision, and completes with its text. */
    fun closeDiff(request: EditorRequest, filePath: String)

    /** Accepts the proposal as the user would, and writes the file. */
    fun acceptDiff(request: EditorRequest, filePath: String)

    /** Rejects the proposal as the user would. */
    fun rejectDiff(request: EditorRequest, filePath: String)

    /** Reports the diagnostics of files, for their texts on the disk. After 2.5 s reports only the known ones. */
    fun diagnostics(responder: DiagnosticsResponder, asked: DiagnosticsRequest)

    /** Saves the project's files, if the user wants that, and lists those still unsaved. A prompt waits for 0.5 s. */
    fun unsavedFiles(responder: UnsavedResponder)

    /** The CLI of [session] asks its user something in its terminal; [message] is the question, in one line. */
    fun agentWaiting(session: String, message: String)

    /** The CLI of [session] has answered a prompt, after this time. */
    fun agentFinished(session: String, seconds: Long)

    /** No model gets the [reason] of a rejection of a proposal for [filePath]; [why] is a clause for the user. */
    fun reasonLost(filePath: String, reason: String, why: String)

    /** A model has got the comments with these ids. */
    fun commentsDelivered(ids: List<String>)

    /** No model gets the comment; [reason] is a sentence for the user. */
    fun commentRefused(id: String, reason: String)

    /** Comments of the last server that no model has got. This server delivers them. */
    fun commentsPending(comments: List<CommentOnLines>)

    /** The files that a CLI changed in one prompt, each time that this changes. [core] keeps their texts. */
    fun agentChanged(core: CompanionCore, change: AgentChange)

    /** A shell command of the CLI begins, or has ended. */
    fun agentCommand(core: CompanionCore, command: AgentCommand)

    /** Receives the number of connected CLIs. */
    fun connectedChanged(count: Int)
}

/**
 * A running server. After [close] it ignores events, because listeners may still send some. Any thread, also the EDT,
 * except where a function says otherwise.
 *
 * Paths are absolute and in the system's own form, as the CLI writes them.
 */
interface CompanionCore : AutoCloseable {
    val isClosed: Boolean

    /** The server's status. After [close] it is the status of a server that does not run. */
    val status: ServerStatus

    /** Variables for terminals, so that a CLI finds the server. Contains the token. */
    val terminalEnvironment: Map<String, String>

    /**
     * The report of `gemini-companion doctor` for a CLI in the IDE's terminal; empty after [close]. It contains names
     * of folders, but no token. Takes seconds, so don't call it on the EDT.
     */
    fun diagnosis(): String

    fun fileOpened(path: String)

    fun fileClosed(path: String)

    fun fileFocused(path: String)

    /** [line] and [character] are 1-based; [character] counts UTF-16 units from the start of the line. */
    fun caretMoved(path: String, line: Int, character: Int)

    /** Only the first [MAX_SELECTION] characters count. An empty text clears the selection. */
    fun selectionChanged(path: String, text: String)

    /** [from] and [to] are files or directories. */
    fun fileRenamed(from: String, to: String)

    /** [path] is a file or directory. */
    fun fileDeleted(path: String)

    /** Replaces the workspace's roots. Writes a file, so don't call it on the EDT. */
    fun rootsChanged(roots: List<String>)

    fun trustChanged(trusted: Boolean)

    /** Sets whether CLIs receive no context and no diagnostics. */
    fun silenceChanged(silent: Boolean)

    /** Sets whether the user reviews each edit, even if Gemini CLI would not ask. */
    fun reviewChanged(all: Boolean)

    /** Adds the user's comment, or changes the one with this id. A model gets it once. */
    fun commentSet(comment: CommentOnLines)

    /** The user has removed the comment. A model may have got it. */
    fun commentRemoved(id: String)

    /**
     * Returns the texts of a file that a CLI changed in this prompt; null if the server does not keep them. They may
     * have 16 MB, so don't call it on the EDT.
     */
    fun textBefore(session: String, prompt: Long, path: String): ChangedText?

    /** The user took back the CLI's changes of these files. The model gets that with the next prompt. */
    fun changesReverted(session: String, prompt: Long, paths: List<String>)

    /** The user undid the revert of these files, so the model gets nothing of it. */
    fun revertUndone(session: String, prompt: Long, paths: List<String>)

    /** The user keeps the CLI's changes of these files, which leave the list. */
    fun changesKept(session: String, prompt: Long, paths: List<String>)

    fun diffAccepted(filePath: String, text: String): Delivery

    /** Sends the rejection, with the user's reason for the model. [OpenDiff.reason] says when the model gets it. */
    fun diffRejected(filePath: String, reason: String? = null): Delivery

    /**
     * Turns a [Delivery.QUEUED] acceptance into a rejection, because the IDE writes the text itself now: the CLI would
     * make the edit a second time. Returns whether it is certain that the CLI does not.
     */
    fun withdrawAcceptance(filePath: String): Boolean

    /** Stops the server, within 2 s. */
    override fun close()

    companion object {
        /** The longest selection that the CLI receives, in UTF-16 units. */
        const val MAX_SELECTION = 16_384
    }
}
