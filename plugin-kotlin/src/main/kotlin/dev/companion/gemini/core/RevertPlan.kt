// Declares the plan of a revert and its request, in the shapes of `editor/revert.rs` in rust/companion-protocol.
// For logs, see CliChange.kt.

package dev.companion.gemini.core

import com.google.gson.annotations.SerializedName

/** A file to revert, with its texts at this moment, exactly as on the disk. */
data class FileToRevert(
    val path: String,
    /** The prompts whose changes to revert. */
    val prompts: List<PromptKey>,
    /** Null if the file does not exist. */
    val disk: String?,
    /** Null if nothing is unsaved. */
    val unsaved: String?,
    /** The only part to revert; null if all. */
    val hunk: Hunk? = null,
) {
    /** The same file once its unsaved text is saved. */
    fun saved() = if (unsaved == null) this else copy(disk = unsaved, unsaved = null)

    /** Without the texts, because no log may contain them. */
    override fun toString() = "$path with ${disk?.length} characters, ${unsaved?.length} unsaved"
}

/** The plan for files, in the order of the request. */
class RevertPlan(
    val files: List<PlannedFile> = emptyList(),
    /** Null if no file has a warning. */
    val question: String? = null,
)

enum class RevertAction {
    @SerializedName("write")
    WRITE,

    @SerializedName("delete")
    DELETE,

    /** The file has its text from before already. */
    @SerializedName("nothing")
    NOTHING,

    @SerializedName("refuse")
    REFUSE,
}

class PlannedFile(
    val path: String = "",
    val action: RevertAction = RevertAction.REFUSE,
    /** The text to write, exactly as on the disk. */
    val text: String? = null,
    /** Why the file can't be reverted. */
    val reason: String? = null,
    /** What the user would lose; null if nothing. */
    val warning: String? = null,
)
