// Declares the files that a CLI changed, by prompt, in the shapes of `editor/cli.rs` in rust/companion-protocol.

package dev.companion.gemini.core

import com.google.gson.annotations.SerializedName

/** The whole state of one prompt. Without [files] the prompt has left the list. */
data class CliChange(
    val session: String = "",
    val prompt: Long = 0,
    /** The prompt's first line; may be empty. */
    val title: String = "",
    /** The time of the prompt, in milliseconds since 1970; 0 if the prompt has left the list. */
    val time: Long = 0,
    val files: List<ChangedFile> = emptyList(),
) : EditorMessage {
    val hasLeft get() = time == 0L

    /** Without the title, because no log may contain a prompt. */
    override fun toString() = "prompt $prompt of session $session, ${files.size} files"
}

/** A shell command of a CLI, which begins or has ended. */
data class CliCommand(
    val session: String = "",
    val prompt: Long = 0,
    /** The prompt's first line; may be empty. */
    val title: String = "",
    /** The time of the prompt, in milliseconds since 1970. */
    val time: Long = 0,
    val running: Boolean = false,
) : EditorMessage {
    /** Without the title, because no log may contain a prompt. */
    override fun toString() = "command of prompt $prompt of session $session"
}

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
data class ChangedText(
    /** The text before the prompt; null if the file did not exist. */
    val before: String? = null,
    /** The text as the CLI left it; null if the CLI deleted the file. */
    val after: String? = null,
) {
    /** Without the texts, because no log may contain them. */
    override fun toString() = "texts of ${before?.length} and ${after?.length} characters"
}

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
