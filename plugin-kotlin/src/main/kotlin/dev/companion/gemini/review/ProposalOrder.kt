// Orders the waiting proposals, and names their position and CLI.

package dev.companion.gemini.review

import dev.companion.gemini.tabs.Proposal
import dev.companion.gemini.tabs.ProposalPosition

internal object ProposalOrder {
    /** Updates the position of each proposal. */
    fun update(waiting: List<Proposal>) {
        val areSeveral = waiting.distinctBy(Proposal::cli).size > 1
        waiting.forEachIndexed { index, proposal ->
            proposal.updatePosition(ProposalPosition(index + 1, waiting.size, proposal.cli.takeIf { areSeveral }))
        }
    }

    /**
     * The proposal [by] positions after [from]; the first follows the last. Without [from], the
     * first or the last.
     */
    fun step(waiting: List<Proposal>, from: Proposal?, by: Int): Proposal? {
        if (waiting.isEmpty()) return null
        val start = waiting.indexOf(from).takeIf { it >= 0 } ?: if (by > 0) -1 else 0
        return waiting[Math.floorMod(start + by, waiting.size)]
    }
}
