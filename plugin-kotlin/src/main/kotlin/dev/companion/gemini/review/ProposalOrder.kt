// Orders the waiting proposals by their arrival, and finds the next one.

package dev.companion.gemini.review

import dev.companion.gemini.CompanionBundle

/** Which of how many a proposal is; [cli] is the CLI that it is from, if there are several. */
internal data class Place(
    val number: Int = 1,
    val count: Int = 1,
    val cli: Int? = null,
) {
    /** Whose proposal it is, at the beginning of a sentence. */
    val who: String get() = cli?.let(::shown) ?: CompanionBundle.message("diff.cli")

    companion object {
        fun shown(cli: Int): String = CompanionBundle.message("diff.cli.number", cli)
    }
}

internal object ProposalOrder {
    /** Has each know its place. */
    fun update(waiting: List<Proposal>) {
        val areSeveral = waiting.distinctBy(Proposal::cli).size > 1
        waiting.forEachIndexed { index, proposal ->
            proposal.stand(Place(index + 1, waiting.size, proposal.cli.takeIf { areSeveral }))
        }
    }

    /** The one that is [by] further than [from]; beyond the last comes the first. From elsewhere one comes to an end. */
    fun step(waiting: List<Proposal>, from: Proposal?, by: Int): Proposal? {
        if (waiting.isEmpty()) return null
        val start = waiting.indexOf(from).takeIf { it >= 0 } ?: if (by > 0) -1 else 0
        return waiting[Math.floorMod(start + by, waiting.size)]
    }
}
