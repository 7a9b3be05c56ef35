// Declares the editor's messages to the server, and a comment as both sides send it.

package dev.companion.gemini.core

/**
 * A message of docs/editor-protocol.md. The fields of each class have the names of the JSON. Paths are absolute and in
 * the system's own form, as the CLI writes them.
 */
sealed class ServerMessage(
    @Transient val method: String,
    /** Crosses the boundary beside the JSON, which has an empty text in its place; null if there is none. */
    @Transient val longText: String?,
    /** Whether the server takes long or writes a file, so that the EDT must not send the message. */
    @Transient val mayWait: Boolean,
) {
    /** The object whose fields are the JSON. */
    open val params: Any get() = this

    sealed class Notification(
        method: String,
        longText: String? = null,
        mayWait: Boolean = false,
    ) : ServerMessage(method, longText, mayWait)

    /** A message whose answer is an [A]. */
    sealed class Request<A>(
        method: String,
        @Transient val answer: Class<A>,
        longText: String? = null,
        mayWait: Boolean = true,
    ) : ServerMessage(method, longText, mayWait)

    /** The user's decision about a proposal. A server that stops gets none. */
    sealed interface Decision

    class Opened(val path: String) : Notification("editor/opened")

    class Closed(val path: String) : Notification("editor/closed")

    class Focused(val path: String) : Notification("editor/focused")

    /** [line] and [character] are 1-based; [character] counts UTF-16 units from the start of the line. */
    class Cursor(
        val path: String,
        val line: Int,
        val character: Int,
    ) : Notification("editor/cursor")

    /** Only the first [MAX_SELECTION] characters count. An empty text clears the selection. */
    class Selection(
        val path: String,
        selected: String,
    ) : Notification("editor/selection", selected) {
        private val text = ""
    }

    /** [from] and [to] are files or directories. */
    class Renamed(
        val from: String,
        val to: String,
    ) : Notification("editor/renamed")

    /** [path] is a file or directory. */
    class Deleted(val path: String) : Notification("editor/deleted")

    /** Keeps the open proposals for the next server, which starts after [CompanionCore.close]. */
    object Restarts : Notification("editor/restarts")

    /** Replaces the workspace's roots. Writes a file. */
    class Folders(val paths: List<String>) : Notification("workspace/folders", mayWait = true)

    /** Sets whether the user trusts the workspace; null leaves that to the CLI. */
    class Trust(val trusted: Boolean?) : Notification("workspace/trust")

    /** Sets whether CLIs receive context and diagnostics. */
    class ShareContext(val share: Boolean) : Notification("workspace/shareContext")

    /** Sets whether the user reviews each edit, even if Gemini CLI would not ask. */
    class Review(val all: Boolean) : Notification("workspace/review")

    /** Adds the user's comment, or changes the one with this id. A model gets it once. */
    class CommentSet(override val params: CommentOnLines) : Notification("comment/set")

    /** The user has removed the comment. A model may have got it. */
    class CommentRemoved(val id: String) : Notification("comment/removed")

    /** The user reverted these changes. The model gets that with the next prompt. */
    class ChangesReverted(override val params: ChangedPaths) : Notification("cli/reverted")

    /** The user undid the revert, so the model gets nothing of it. */
    class RevertUndone(override val params: ChangedPaths) : Notification("cli/revertUndone")

    /** The user keeps these changes. They leave the list. */
    class ChangesKept(override val params: ChangedPaths) : Notification("cli/kept")

    /** The user rejects a proposal, with a reason for the model. [OpenDiff.reason] says when the model gets it. */
    class Rejected(
        val filePath: String,
        val reason: String? = null,
    ) : Notification("diff/rejected"),
        Decision

    /**
     * Finds the texts of a changed file, of up to 16 MB. An error if the server does not keep them, or if the file may be
     * private. The disk may take 2 s, here and in the next two.
     */
    class FindTexts(override val params: ChangedPath) : Request<ChangedText>("cli/texts", ChangedText::class.java)

    /** Lists the parts of a change. An error if the server does not keep its texts, which it compares. */
    class ListHunks(override val params: ChangedPath) : Request<Hunks>("cli/hunks", Hunks::class.java)

    /** Plans how to revert files, and what the user is asked first. Compares texts, up to 0.2 s a file. */
    class PlanRevert(val files: List<FileToRevert>) : Request<RevertPlan>("cli/revertPlan", RevertPlan::class.java) {
        private val undoesDeletions = true
    }

    /** The user accepts a proposal with this text. */
    class Accepted(
        val filePath: String,
        text: String,
    ) : Request<AcceptanceDelivery>("diff/accepted", AcceptanceDelivery::class.java, text, mayWait = false),
        Decision {
        private val content = ""
    }

    /**
     * Turns a [Delivery.QUEUED] acceptance into a rejection, because the IDE writes the text itself now: the CLI would
     * make the edit a second time.
     */
    class Withdraw(val filePath: String) : Request<Withdrawn>("diff/withdraw", Withdrawn::class.java, mayWait = false)

    /**
     * Names all proposals of the last server that the IDE shows, so that they stay open. Send it right after the start:
     * the server rejects the others. The texts may be large.
     */
    class Resume(val proposals: List<ShownProposal>) :
        Request<ResumedProposals>("diff/resume", ResumedProposals::class.java)

    object Status : Request<ServerStatus>("companion/status", ServerStatus::class.java, mayWait = false)

    object Environment :
        Request<TerminalEnvironment>("companion/environment", TerminalEnvironment::class.java, mayWait = false)

    /** Takes seconds. */
    object Diagnose : Request<Diagnosis>("companion/diagnosis", Diagnosis::class.java)
}

/** The longest selection that the CLI receives, in UTF-16 units. */
const val MAX_SELECTION = 16_384

/** The longest reason or comment that the server does not cut, in UTF-16 units. */
const val MAX_NOTE = 16_384

/** Variables for terminals, so that a CLI finds the server. They contain the token. */
class TerminalEnvironment(val env: Map<String, String>)

/** The report of `gemini-companion doctor` for a CLI in the IDE's terminal. It contains no token. */
class Diagnosis(val text: String)

/** A comment on lines of a file. The server's JSON has these names. */
data class CommentOnLines(
    /** At most 64 bytes. */
    val id: String,
    val path: String,
    /** The first line, 1-based. */
    val line: Int,
    /** The last line. */
    val endLine: Int,
    /** The text of the lines, which helps the model to find them. */
    val content: String,
    val text: String,
) {
    /** Without the comment, because no log may contain it. */
    override fun toString() = "comment $id"
}
