// Takes the open proposals of a server that has ended to the next one.

package dev.companion.gemini.review

import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.platform.LOG
import dev.companion.gemini.tabs.Proposal
import dev.companion.gemini.tabs.UserDecision

/**
 * The proposals that show when [next] has started, and whose server has ended. Created right after the start and not on
 * the EDT, because the server waits neither for a dialog nor for a busy IDE. Without a next server, none stays open.
 */
internal class LeftProposals(
    val next: CompanionCore?,
    proposals: Collection<Proposal>,
) {
    private val left = proposals.filter { it.core.isClosed && it.delivery == Delivery.DELIVERED }
    private val resumed = try {
        val shown = ServerMessage.Resume(left.map(Proposal::shown))
        next?.request(shown)?.proposals.orEmpty().associateBy { it.diff }
    } catch (e: RuntimeException) {
        // They end, and the IDE offers the user's edits.
        LOG.error(e)
        emptyMap()
    }

    /**
     * Moves them to the next server. Calls [decide] with each decision that has waited for it, also about its own
     * proposals: some come before its start has ended. Calls [keep] for each accepted proposal that it does not take
     * up. The others stay with their server. EDT.
     */
    fun takeOver(waiting: List<Proposal>, decide: (Proposal, UserDecision) -> Unit, keep: (Proposal) -> Unit) {
        for (proposal in waiting.filter { it.core === next }) proposal.deferred?.let { decide(proposal, it) }
        // A call of the next server may have ended some already.
        for (proposal in left.filter { it.core.isClosed }) {
            val fields = resumed[proposal.shown.diff]
            val deferred = proposal.deferred
            if (proposal.state == Proposal.State.ENDED) {
                // The last server closed it for a CLI, which may not have received the answer.
                if (fields != null && waiting.none { it.path == proposal.path }) {
                    next?.send(ServerMessage.Rejected(proposal.path))
                }
            } else if (next != null && fields != null) {
                proposal.resume(next, fields)
                if (deferred != null) decide(proposal, deferred)
            } else if (deferred == UserDecision.Accepted) {
                proposal.follow(next ?: proposal.core)
                keep(proposal)
            }
        }
    }
}
