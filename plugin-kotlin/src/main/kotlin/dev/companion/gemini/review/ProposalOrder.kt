// Orders the waiting proposals, names their position and CLI, and reports changes.

package dev.companion.gemini.review

import com.intellij.util.messages.Topic
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

    /** The proposal [by] positions after [from]; the first follows the last. Without [from], the first or the last. */
    fun step(waiting: List<Proposal>, from: Proposal?, by: Int): Proposal? {
        if (waiting.isEmpty()) return null
        val start = waiting.indexOf(from).takeIf { it >= 0 } ?: if (by > 0) -1 else 0
        return waiting[Math.floorMod(start + by, waiting.size)]
    }
}

/** Reports changes of proposals within the plugin. */
fun interface ProposalListener {
    /** EDT. */
    fun proposalsChanged()

    companion object {
        /** On the project's message bus. */
        val TOPIC: Topic<ProposalListener> = Topic.create("Proposals of Gemini CLI", ProposalListener::class.java)
    }
}
