// Keeps the texts of comments that the user has begun and not sent.

package dev.companion.gemini.comments

import com.intellij.openapi.editor.Document
import com.intellij.openapi.project.Project
import java.util.concurrent.CopyOnWriteArrayList

/** For the EDT, except [lines]. In memory only. */
internal class CommentDrafts(
    private val project: Project,
    /** Follows the lines of a draft, and returns the document that has them. */
    private val follow: (Comment) -> Document?,
    /** Returns whether a comment still waits for a model. */
    private val isPending: (Comment) -> Boolean,
) {
    class Draft(
        /** Its lines, as a comment without a text. */
        val lines: Comment,
        /** The comment that the user rewrites; null if the draft is for a new one. */
        val comment: Comment?,
    ) {
        var text = comment?.params?.text.orEmpty()

        /** The field, while its popup is open. */
        var field: CommentField? = null
    }

    private val drafts = CopyOnWriteArrayList<Draft>()

    /** The lines of all drafts. Any thread. */
    val lines: List<Comment> get() = drafts.map { it.lines }

    /** Returns the draft for [comment], which is at [place], or the draft of a new comment there. */
    fun at(place: CommentPlace, comment: Comment?): Draft {
        val found = drafts.find { it.comment?.takeIf(isPending) === comment && (comment != null || isAt(it, place)) }
            ?: return Draft(Comment(project, place), comment).also(drafts::add)
        if (comment != null) {
            found.lines.moveTo(place)
        } else if (found.lines.document == null) {
            found.lines.moveTo(place.at(found.lines.lines))
        }
        return found
    }

    private fun isAt(draft: Draft, place: CommentPlace) =
        follow(draft.lines) === place.document && place.lines.mean(draft.lines.lines)

    fun forget(draft: Draft) {
        drafts -= draft
        draft.lines.unmark()
    }
}

/** Whether the user who chooses these lines means [others]: the same lines, or one of them. */
internal fun IntRange.mean(others: IntRange): Boolean = this == others || (first == last && first in others)
