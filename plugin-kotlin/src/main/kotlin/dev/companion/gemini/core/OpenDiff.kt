// Declares a proposal of a CLI, in the shape of `OpenDiff` in rust/companion-protocol.

package dev.companion.gemini.core

import com.google.gson.annotations.SerializedName

/** A proposal from Rust. It arrives as JSON; only the text is passed separately. */
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
)

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
