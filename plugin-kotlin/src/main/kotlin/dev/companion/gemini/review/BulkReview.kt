// Selects the proposals of a bulk question, and those that stay open.

package dev.companion.gemini.review

import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.tabs.Proposal

/**
 * The proposals that wait when the user is asked. The answer does not apply to proposals that
 * arrive or change while the question is open.
 */
internal class BulkReview(waiting: List<Proposal>) {
    /** Without those whose decision waits for the next server. */
    val all: List<Proposal> = waiting.filter { it.deferred == null }

    /** Each proposal, with its modification stamp at the time of the question. */
    private val asked = all.associateWith { it.document.modificationStamp }

    /** The proposals that need no individual review. */
    val acceptable: List<Proposal> = all.filter { it.obstacle == null }

    /** Returns why the bulk answer can't accept it; null if it can. */
    fun objection(proposal: Proposal): String? =
        when {
            proposal.state != Proposal.State.OPEN -> message("diff.ended")
            proposal.document.modificationStamp != asked[proposal] -> message("diff.all.touched")
            else -> proposal.obstacle?.let { message(it.key) }
        }

    /** Whether it stays for the user after the bulk answer, with this objection or without one. */
    fun isLeft(proposal: Proposal, objection: String?): Boolean =
        when (proposal.state) {
            Proposal.State.UNDELIVERED -> true
            Proposal.State.ENDED -> false
            else -> objection != null
        }
}
