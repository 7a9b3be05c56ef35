// Returns the texts that the list and the view of a prompt have about it and its files.

package dev.companion.gemini.changes

import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.ChangeKind
import dev.companion.gemini.target.ShownPath

/** Says what the colour of the file's name shows; null for a changed file. */
internal val ChangeRow.kindText: String?
    get() = when (kind) {
        ChangeKind.CHANGED -> null
        ChangeKind.CREATED -> message("changes.created")
        ChangeKind.DELETED -> message("changes.deleted")
    }

/** The numbers of lines, such as *+2 −1*; null if they are unknown. */
internal val ChangeRow.countsText: String?
    get() {
        val (added, removed) = Pair(edit?.added ?: return null, edit.removed ?: return null)
        return message("diff.lines", added, removed)
    }

/** Why the file has no revert; null if it has one. */
internal val ChangeRow.remark: String?
    get() {
        val edit = edit ?: return message("changes.remark.command")
        return when {
            edit.reverted -> message("changes.remark.reverted")
            edit.isPrivate -> message("changes.remark.private")
            !edit.revertible -> message("changes.remark.unkept")
            else -> null
        }
    }

/** The prompt's first line. */
internal val PromptChanges.shownTitle: String get() = ShownPath.plain(title).ifBlank { message("changes.untitled") }
