// Declares the files that a CLI changed, by prompt, and the plan of a revert, in the shapes of `editor/cli.rs` and
// `editor/revert.rs` in rust/companion-protocol. No log may contain their texts, so a type with one is no data class, or
// has its own toString.

package dev.companion.gemini.core

import com.google.gson.annotations.SerializedName

/** The whole state of one prompt. Without [files] the prompt has left the list. */
class CliChange(
    val session: String = "",
    val prompt: Long = 0,
    /** The prompt's first line; may be empty. */
    val title: String = "",
    /** The time of the prompt, in milliseconds since 1970; 0 if the prompt has left the list. */
    val time: Long = 0,
    val files: List<ChangedFile> = emptyList(),
) : EditorMessage {
    val hasLeft get() = time == 0L
}

/** A shell command of a CLI, which begins, perhaps after a question to the user, or has ended. */
class CliCommand(
    val session: String = "",
    val prompt: Long = 0,
    /** The prompt's first line; may be empty. */
    val title: String = "",
    /** The time of the prompt, in milliseconds since 1970. */
    val time: Long = 0,
    val running: Boolean = false,
    /** Whether no hook has reported its end, as of a command that the user has denied. */
    val lost: Boolean = false,
) : EditorMessage

/** Identifies a prompt of a CLI session. */
data class PromptKey(
    val session: String,
    @SerializedName("prompt") val number: Long,
)

data class ChangedFile(
    /** Absolute, as the CLI writes it. */
    val path: String = "",
    val kind: ChangeKind = ChangeKind.CHANGED,
    /** The numbers of lines; null if they are unknown. */
    val added: Int? = null,
    val removed: Int? = null,
    /** Whether the server keeps the text before the prompt. */
    val revertible: Boolean = false,
    /** Whether the user has reverted the change. */
    val reverted: Boolean = false,
    /** Whether the file is private, so that the server keeps only its name. */
    @SerializedName("private")
    val isPrivate: Boolean = false,
)

enum class ChangeKind {
    @SerializedName("changed")
    CHANGED,

    @SerializedName("created")
    CREATED,

    @SerializedName("deleted")
    DELETED,
}

/** Two texts of a changed file, exactly as on the disk, with its line endings and its BOM. */
class ChangedText(
    /** The text before the prompt; null if the file did not exist. */
    val before: String? = null,
    /** The text as the CLI left it; null if the CLI deleted the file. */
    val after: String? = null,
)

/** A file that a CLI changed in a prompt. */
class ChangedPath(
    val session: String,
    val prompt: Long,
    val path: String,
)

/** Changes of a CLI in a prompt: those of these files, or [hunk] of one file. */
class ChangedPaths(
    val session: String,
    val prompt: Long,
    val paths: List<String>,
    val hunk: Hunk? = null,
)

/** A run of changed lines with the lines around it, as in a unified diff. */
data class Hunk(
    /** The number of its first line in the text before the prompt, from 1. */
    val before: Int = 1,
    /** The number of its first line in the text as the CLI left it, from 1. */
    val after: Int = 1,
    /** Its lines, each after a space, `-` or `+`, and with its line ending. */
    val lines: List<String> = emptyList(),
    /** As in a unified diff. */
    val header: String = "",
) {
    /** Without the lines, because no log may contain them. */
    override fun toString() = "${lines.size} lines at $after"
}

class Hunks(val hunks: List<Hunk>)

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
