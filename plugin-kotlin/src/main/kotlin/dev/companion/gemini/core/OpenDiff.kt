// Declares a proposal of a CLI and the answers about it, in the shapes of `editor.rs` and
// `editor/restart.rs` in rust/companion-protocol.

package dev.companion.gemini.core

import com.google.gson.annotations.SerializedName

/**
 * Show a proposal, in place of an open one for the same path. The server may not have started yet. The message arrives as
 * JSON; only the text is passed separately.
 */
data class OpenDiff(
    /** The path as the CLI wrote it. It identifies the proposal for the CLI. */
    val filePath: String = "",
    /** The whole proposed text. */
    val newContent: String = "",
    val kind: ProposalKind = ProposalKind.CHANGE,
    /** Whether the file is private, so that the CLI receives nothing else about it. */
    val private: Boolean = false,
    /** The number of the connected CLI that made the proposal. */
    val cli: Int = 1,
    /**
     * The CLI writes the file itself after an acceptance. If the user has not changed the proposal, the CLI applies the
     * model's edit to the file's current text.
     */
    val replaysEdits: Boolean = false,
    /** When the model gets the reason of a rejection. */
    val reason: ReasonArrival = ReasonArrival.NEVER,
    /** Names the proposal, also for the next server. */
    val diff: String = "",
) : EditorMessage.Request<String?>()

/** The effect of accepting a proposal. */
enum class ProposalKind {
    /** Changes an existing file. */
    @SerializedName("change")
    CHANGE,

    /** Creates a file that does not exist when the proposal arrives. */
    @SerializedName("create")
    CREATE,
}

/** When the model gets the reason of a rejection. */
enum class ReasonArrival {
    /** At once, and the CLI goes on. If the file has changed since the proposal arrived, as [NEXT_PROMPT]. */
    @SerializedName("now")
    NOW,

    /** With the user's next prompt. The rejection ends the CLI's turn. */
    @SerializedName("nextPrompt")
    NEXT_PROMPT,

    /** Not at all: the companion's extension is missing, or the file is private. */
    @SerializedName("never")
    NEVER,
}

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

class AcceptanceDelivery(val delivery: Delivery)

/** [withdrawn] says whether it is certain that the CLI does not make the edit. */
class Withdrawn(val withdrawn: Boolean)

/** A proposal of the last server that the IDE shows, with the fields of its [OpenDiff]. */
class ShownProposal(
    val diff: String,
    val newContent: String,
)

/** A proposal of the last server that is open in this one. [cli] and [reason] are as in an [OpenDiff] by now. */
class ResumedProposal(
    val diff: String = "",
    val cli: Int = 1,
    val reason: ReasonArrival = ReasonArrival.NEVER,
)

/** The [proposals] that are open again. */
class ResumedProposals(val proposals: List<ResumedProposal>)
