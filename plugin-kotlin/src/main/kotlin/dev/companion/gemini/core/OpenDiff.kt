// Declares a proposal of a CLI, in the shape of `OpenDiff` in rust/companion-protocol.

package dev.companion.gemini.core

import com.google.gson.annotations.SerializedName

/** The effect of accepting a proposal. */
enum class ProposalKind {
    /** Changes a file that there is. */
    @SerializedName("change")
    CHANGE,

    /** Creates a file: it does not exist when the proposal comes. */
    @SerializedName("create")
    CREATE,
}

/** Comes from Rust as JSON, but for the text, which comes beside it. */
data class OpenDiff(
    /** As the CLI wrote it. The CLI identifies the proposal by it. */
    val filePath: String = "",
    /** The whole proposed text. */
    val newContent: String = "",
    val kind: ProposalKind = ProposalKind.CHANGE,
    /** Whether an ignore file lists it, so that the CLI receives nothing else about it. */
    val private: Boolean = false,
    /** Which of the connected CLIs it is from. */
    val cli: Int = 1,
    /**
     * The CLI writes the file itself once the proposal is accepted. If the user has not changed the proposal, it makes
     * the model's edit in the file as it is by then.
     */
    val replaysEdits: Boolean = false,
)
