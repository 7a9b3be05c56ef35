// Decides which proposals a bulk question is about, and which of them stay open.

package dev.companion.gemini.diff

import dev.companion.gemini.CompanionBundle.message

/** Those that wait when the user is asked. What comes or changes while the question is open is not decided by the answer. */
internal class ProposalRound(waiting: List<Proposal>) {
    /** Each, with what it was when the user was asked. */
    private val asked = waiting.associateWith { it.document.modificationStamp }

    val all: List<Proposal> = waiting

    /** Those that need a look of their own stay out of it. */
    val acceptable: List<Proposal> = waiting.filter { it.obstacle == null }

    /** Why it can't be accepted as the user has agreed to; null if it can. */
    fun objection(proposal: Proposal): String? =
        when {
            proposal.state != Proposal.State.OPEN -> message("diff.ended")
            proposal.document.modificationStamp != asked[proposal] -> message("diff.all.touched")
            else -> proposal.obstacle?.let { message(it.key) }
        }
}
