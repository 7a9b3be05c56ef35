// Writes accepted proposals that no CLI has received into their files.

package dev.companion.gemini.review

import com.intellij.openapi.project.Project
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.tabs.Proposal
import dev.companion.gemini.target.Target
import dev.companion.gemini.target.TargetException
import java.util.concurrent.Executor

/** Calls [finish] when the file has the proposal's text. For the EDT. */
internal class UndeliveredProposals(
    private val project: Project,
    private val background: Executor,
    private val queue: ProposalQueue,
    private val writer: TargetWriter,
    private val finish: (Proposal) -> Unit,
) {
    /** Writes the text. Asks first if a text would be lost. */
    fun apply(proposal: Proposal) =
        background.execute {
            val target = runCatching { Target.find(project, proposal.path) }
            queue.later {
                if (proposal.state == Proposal.State.UNDELIVERED) sayingWhyNot { apply(proposal, target.getOrThrow()) }
            }
        }

    private fun apply(proposal: Proposal, target: Target) {
        proposal.retarget(target)
        if (!ProposalQuestion.isApplied(project, proposal) || !isMadeOnce(proposal)) return
        writer.write(target, proposal) { flushed ->
            sayingWhyNot {
                flushed.getOrThrow()
                if (proposal.state == Proposal.State.UNDELIVERED) finish(proposal)
            }
        }
    }

    /**
     * Returns whether the edit is made only once: the CLI does not make it as well, or the user wants it in any case.
     */
    private fun isMadeOnce(proposal: Proposal): Boolean {
        if (!proposal.isQueued) return true
        val answer = proposal.core.request(ServerMessage.Withdraw(proposal.path))
        if (answer?.withdrawn != true) return ProposalQuestion.isAppliedTwice(project, proposal)
        proposal.keepUndelivered(Delivery.UNKNOWN)
        return true
    }

    private fun sayingWhyNot(work: () -> Unit) =
        try {
            work()
        } catch (e: TargetException) {
            ProposalQuestion.reportUnapplied(project, e.message.orEmpty())
        }
}
