// Declares the server's messages to the editor.

package dev.companion.gemini.core

/**
 * A message of docs/editor-protocol.md. The fields of notifications, and of the parameters of requests, have the names of
 * the JSON.
 */
sealed interface EditorMessage {
    /** Show a proposal, in place of an open one for the same path. The server may not have started yet. */
    class Open(
        val responder: Responder<String?>,
        val diff: OpenDiff,
    ) : EditorMessage

    /** Close the proposal without a decision, and complete with its text. */
    class Close(
        val responder: Responder<String?>,
        val asked: CloseDiff,
    ) : EditorMessage

    /** Accept the proposal as the user would, and write the file. */
    class Accept(
        val responder: Responder<String?>,
        val asked: DiffPath,
    ) : EditorMessage

    /** Reject the proposal as the user would. */
    class Reject(
        val responder: Responder<String?>,
        val asked: DiffPath,
    ) : EditorMessage

    /** Report the diagnostics of files, for their texts on the disk. After 2.5 s report only the known ones. */
    class FindDiagnostics(
        val responder: Responder<Diagnostics>,
        val asked: DiagnosticsRequest,
    ) : EditorMessage

    /** Save the project's files, if the user wants that, and list those still unsaved. A prompt waits for 0.5 s. */
    class ListUnsaved(
        val responder: Responder<UnsavedPaths>,
        val asked: NoParameters,
    ) : EditorMessage

    /** The number of connected CLIs has changed. */
    class Clients(val count: Int) : EditorMessage

    /** The CLI of [session] asks its user something in its terminal; [message] is the question, in one line. */
    class CliWaiting(
        val session: String,
        val message: String,
    ) : EditorMessage

    /** The question of the CLI of [session] does not wait for the user any more. */
    class CliAnswered(val session: String) : EditorMessage

    /** The CLI of [session] has answered a prompt, after this time. */
    class CliFinished(
        val session: String,
        val seconds: Long,
    ) : EditorMessage

    /** The CLI has written the text for [filePath] that the user has edited and accepted. Not sent for an unedited one. */
    class Written(val filePath: String) : EditorMessage

    /** The CLI has not written that text. */
    class Unwritten(val filePath: String) : EditorMessage

    /** No model gets the [reason] of a rejection of a proposal for [filePath]; [why] is a clause for the user. */
    class ReasonLost(
        val filePath: String,
        val reason: String,
        val why: String,
    ) : EditorMessage

    /** A model has got the comments with these ids. */
    class CommentsDelivered(val ids: List<String>) : EditorMessage

    /** No model gets the comment; [reason] is a sentence for the user. */
    class CommentRefused(
        val id: String,
        val reason: String,
    ) : EditorMessage

    /** Comments of the last server that no model has got. This server delivers them. */
    class CommentsPending(val comments: List<CommentOnLines>) : EditorMessage

    /** A request: the class of its parameters, and its message. A responder for [Open] and the like takes a text or null. */
    class RequestType<P>(
        val parameters: Class<P>,
        val message: (Responder<Any?>, P) -> EditorMessage,
    )

    companion object {
        /** The requests, by method. */
        val REQUESTS: Map<String, RequestType<*>> = mapOf(
            "diff/open" to RequestType(OpenDiff::class.java, ::Open),
            "diff/close" to RequestType(CloseDiff::class.java, ::Close),
            "diff/accept" to RequestType(DiffPath::class.java, ::Accept),
            "diff/reject" to RequestType(DiffPath::class.java, ::Reject),
            "editor/diagnostics" to RequestType(DiagnosticsRequest::class.java, ::FindDiagnostics),
            "editor/unsaved" to RequestType(NoParameters::class.java, ::ListUnsaved),
        )

        /** The notifications, by method. */
        val NOTIFICATIONS: Map<String, Class<out EditorMessage>> = mapOf(
            "companion/clients" to Clients::class.java,
            "cli/waiting" to CliWaiting::class.java,
            "cli/answered" to CliAnswered::class.java,
            "cli/finished" to CliFinished::class.java,
            "cli/changed" to CliChange::class.java,
            "cli/command" to CliCommand::class.java,
            "diff/written" to Written::class.java,
            "diff/unwritten" to Unwritten::class.java,
            "diff/reasonLost" to ReasonLost::class.java,
            "comment/delivered" to CommentsDelivered::class.java,
            "comment/refused" to CommentRefused::class.java,
            "comment/pending" to CommentsPending::class.java,
        )
    }
}

/** Names the proposal for [filePath]. */
class DiffPath(val filePath: String)

/** Names a proposal to close. If it is [abandoned], no CLI takes the text. */
class CloseDiff(
    val filePath: String,
    val abandoned: Boolean = false,
)

class NoParameters

/** The files whose text in the editor is not on the disk. */
class UnsavedPaths(val paths: List<String>)
