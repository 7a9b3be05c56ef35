// Orders the waiting proposals by their arrival, and finds the next one.

package dev.companion.gemini.review

import dev.companion.gemini.CompanionBundle

/** The position of a proposal; [cli] is its CLI, if there are several. */
internal data class Place(
    val number: Int = 1,
    val count: Int = 1,
    val cli: Int? = null,
) {
    /** The proposal's owner, at the beginning of a sentence. */
    val who: String get() = cli?.let(::shown) ?: CompanionBundle.message("diff.cli")

    companion object {
        fun shown(cli: Int): String = CompanionBundle.message("diff.cli.number", cli)
    }
}

internal object ProposalOrder {
    /** Updates the place of each proposal. */
    fun update(waiting: List<Proposal>) {
        val areSeveral = waiting.distinctBy(Proposal::cli).size > 1
        waiting.forEachIndexed { index, proposal ->
            proposal.stand(Place(index + 1, waiting.size, proposal.cli.takeIf { areSeveral }))
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
