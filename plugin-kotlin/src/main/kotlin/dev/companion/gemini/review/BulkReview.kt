// Decides which proposals a bulk question is about, and which of them stay open.

package dev.companion.gemini.review

import dev.companion.gemini.CompanionBundle.message

/**
 * The proposals that wait when the user is asked. The answer does not apply to proposals that
 * arrive or change while the question is open.
 */
internal class BulkReview(waiting: List<Proposal>) {
    /** Each with its modification stamp at the time of the question. */
    private val asked = waiting.associateWith { it.document.modificationStamp }

    val all: List<Proposal> = waiting

    /** Proposals that need an individual review are left out. */
    val acceptable: List<Proposal> = waiting.filter { it.obstacle == null }

    /** The reason why it cannot be accepted by the bulk answer; null if it can. */
    fun objection(proposal: Proposal): String? =
        when {
            proposal.state != Proposal.State.OPEN -> message("diff.ended")
            proposal.document.modificationStamp != asked[proposal] -> message("diff.all.touched")
            else -> proposal.obstacle?.let { message(it.key) }
        }
}
