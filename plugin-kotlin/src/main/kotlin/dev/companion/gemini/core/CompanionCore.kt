// Declares a server as the rest of the plugin sees it.

package dev.companion.gemini.core

import com.google.gson.annotations.SerializedName

/** The delivery of an acceptance. */
enum class Delivery {
    /** The CLI is connected and receives it. */
    @SerializedName("delivered")
    DELIVERED,

    /** The CLI is disconnected. It receives the acceptance when it reconnects. */
    @SerializedName("queued")
    QUEUED,

    /** No CLI waits for it any more. */
    @SerializedName("unknown")
    UNKNOWN,
}

/** The server's request to the editor about a proposal. Answer it once, by [complete] or [fail]. */
interface EditorRequest {
    /** Completes the request. Only [EditorMessage.Close] needs [text], the proposal's text. */
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

    /** Sets whether CLIs receive context and diagnostics. */
    fun sharingChanged(share: Boolean)

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

    /**
     * Returns the parts of a change; null if the server does not keep its texts. Compares texts, so don't call it on the
     * EDT.
     */
    fun hunks(session: String, prompt: Long, path: String): List<Hunk>?

    /**
     * Plans how to revert files, and what the user is asked first. Compares texts, so don't call it on the EDT. Returns
     * null if the server has ended.
     */
    fun revertPlan(files: List<FileToRevert>): RevertPlan?

    /**
     * The user took back the CLI's changes of these files, or [hunk] of one file. The model gets that with the next
     * prompt.
     */
    fun changesReverted(session: String, prompt: Long, paths: List<String>, hunk: Hunk? = null)

    /** The user undid the revert of these files, or of [hunk], so the model gets nothing of it. */
    fun revertUndone(session: String, prompt: Long, paths: List<String>, hunk: Hunk? = null)

    /** The user keeps the CLI's changes of these files, which leave the list. */
    fun changesKept(session: String, prompt: Long, paths: List<String>)

    /** Returns null after [close]. Then the next server can take the decision. */
    fun diffAccepted(filePath: String, text: String): Delivery?

    /**
     * Sends the rejection, with the user's reason for the model. [OpenDiff.reason] says when the model gets it. Returns
     * false after [close], as [diffAccepted] returns null.
     */
    fun diffRejected(filePath: String, reason: String? = null): Boolean

    /**
     * Turns a [Delivery.QUEUED] acceptance into a rejection, because the IDE writes the text itself now: the CLI would
     * make the edit a second time. Returns whether it is certain that the CLI does not.
     */
    fun withdrawAcceptance(filePath: String): Boolean

    /**
     * Names all proposals of the last server that the IDE shows, so that they stay open. Call it right after the start:
     * the server rejects the others. Returns those that are open again. The texts may be large, so don't call it on the
     * EDT.
     */
    fun resume(shown: List<ShownProposal>): List<ResumedProposal>

    /** Keeps the open proposals for the next server, which starts after [close]. Otherwise [close] rejects them. */
    fun restarts()

    /** Stops the server, within 2 s. */
    override fun close()

    companion object {
        /** The longest selection that the CLI receives, in UTF-16 units. */
        const val MAX_SELECTION = 16_384
    }
}
