// Keeps the texts of comments that the user has begun and not sent.

package dev.companion.gemini.comments

import com.intellij.openapi.editor.Document

/** For the EDT. In memory only. */
internal class CommentDrafts(
    /** Returns whether a document is that of an open proposal. */
    private val isOpen: (Document) -> Boolean,
    /** Returns whether a comment still waits for a model. */
    private val isPending: (Comment) -> Boolean,
    /** Returns whether a document is that of a file that exists. */
    private val hasFile: (Document) -> Boolean,
) {
    class Draft(
        place: CommentPlace,
        /** The comment that the user rewrites; null if the draft is for a new one. */
        val comment: Comment?,
    ) {
        private var begun = place
        private var marker = markerOf(place.document, place.lines)

        /** Its present lines; if they have been deleted, the nearest ones. */
        val place: CommentPlace get() = begun.at(Comment.linesOf(marker) ?: begun.lines)

        var text = comment?.params?.text.orEmpty()

        /** The field, while its popup is open. */
        var field: CommentField? = null

        fun moveTo(place: CommentPlace) {
            begun = place
            marker = markerOf(place.document, place.lines)
        }
    }

    private val drafts = ArrayList<Draft>()

    /** Returns the draft for [comment], which is at [place], or the draft of a new comment there. */
    fun at(place: CommentPlace, comment: Comment?): Draft {
        val found = drafts.find { it.comment?.takeIf(isPending) === comment && (comment != null || isAt(it, place)) }
            ?: return Draft(place, comment).also(drafts::add)
        if (comment != null) {
            found.moveTo(place)
        } else if (found.place.document !== place.document) {
            found.moveTo(place.at(found.place.lines))
        }
        return found
    }

    private fun isAt(draft: Draft, place: CommentPlace): Boolean {
        val own = draft.place
        val isSameFile = own.file == place.file && (own.inProposal == place.inProposal || isOfEnded(draft))
        // A renamed file keeps its document, and another file may get its old name.
        val isSame = own.document === place.document || (isSameFile && !hasFile(own.document))
        return isSame && place.lines.mean(own.lines)
    }

    /** After the end of a proposal, its drafts are in the file, or in the next proposal for it. */
    private fun isOfEnded(draft: Draft) = draft.place.inProposal && !isOpen(draft.place.document)

    fun forget(draft: Draft) {
        drafts -= draft
    }
}

/** Whether the user who chooses these lines means [others]: the same lines, or one of them. */
internal fun IntRange.mean(others: IntRange): Boolean = this == others || (first == last && first in others)
