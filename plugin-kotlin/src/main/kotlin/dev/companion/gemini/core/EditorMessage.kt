// Declares the server's messages to the editor.

package dev.companion.gemini.core

/** A message of docs/editor-protocol.md. The fields of each class have the names of the JSON. */
sealed interface EditorMessage {
    /** A message that the editor answers. */
    sealed class Request<A> : EditorMessage {
        /** Takes the answer. */
        @Transient
        lateinit var responder: Responder<A>
            private set

        internal fun arrive(responder: Responder<Any?>) {
            this.responder = responder
        }
    }

    /** Accept the proposal as the user would, and write the file. */
    class Accept(val filePath: String) : Request<String?>()

    /** Reject the proposal as the user would. */
    class Reject(val filePath: String) : Request<String?>()

    /** Save the project's files, if the user wants that, and list those still unsaved. A prompt waits for 0.5 s. */
    class ListUnsaved : Request<UnsavedPaths>()

    /** The number of connected CLIs has changed. */
    class Clients : EditorMessage

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

    companion object {
        /** The requests, by method. */
        val REQUESTS: Map<String, Class<out Request<*>>> = mapOf(
            "diff/open" to OpenDiff::class.java,
            "diff/close" to CloseDiff::class.java,
            "diff/accept" to Accept::class.java,
            "diff/reject" to Reject::class.java,
            "editor/diagnostics" to DiagnosticsRequest::class.java,
            "editor/unsaved" to ListUnsaved::class.java,
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

/** Close the proposal without a decision, and complete with its text. If it is [abandoned], no CLI takes the text. */
class CloseDiff(
    val filePath: String,
    val abandoned: Boolean = false,
) : EditorMessage.Request<String?>()

/** The files whose text in the editor is not on the disk. */
class UnsavedPaths(val paths: List<String>)
