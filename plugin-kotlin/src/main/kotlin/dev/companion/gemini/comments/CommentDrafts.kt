// Keeps the texts of comments that the user has begun and not sent.

package dev.companion.gemini.comments

import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.RangeMarker
import com.intellij.openapi.ui.popup.JBPopup

/** For the EDT. In memory only. [isOpen] returns whether a document is that of an open proposal. */
internal class CommentDrafts(private val isOpen: (Document) -> Boolean) {
    class Draft(
        val place: CommentPlace,
        /** Follows the lines while the user writes. */
        val marker: RangeMarker,
        var text: String,
    ) {
        /** The popup and its field, while they are open. */
        var popup: JBPopup? = null
        var field: CommentField? = null
    }

    private val drafts = ArrayList<Draft>()

    /** Returns the draft on these lines. A new one begins with [text]. */
    fun at(place: CommentPlace, text: String): Draft = find(place) ?: Draft(place, place.mark(), text).also(drafts::add)

    private fun find(place: CommentPlace): Draft? =
        drafts.find {
            it.place.path == place.path && (it.place.inProposal == place.inProposal || isOfEnded(it)) &&
                place.lines.mean(Comment.linesOf(it.marker) ?: it.place.lines)
        }

    /** After the end of a proposal, its drafts are in the file, or in the next proposal for it. */
    private fun isOfEnded(draft: Draft) = draft.place.inProposal && !isOpen(draft.place.document)

    fun forget(draft: Draft) {
        drafts -= draft
    }
}

/** Whether the user who chooses these lines means [others]: the same lines, or one of them. */
internal fun IntRange.mean(others: IntRange): Boolean = this == others || (first == last && first in others)
