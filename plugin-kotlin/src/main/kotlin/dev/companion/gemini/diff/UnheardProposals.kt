// Puts proposals that no CLI has heard of into their files.

package dev.companion.gemini.diff

import com.intellij.openapi.project.Project
import java.util.concurrent.Executor

/** Calls [finish] for a proposal whose file has its text. For the EDT. */
internal class UnheardProposals(
    private val project: Project,
    private val background: Executor,
    private val queue: ProposalQueue,
    private val writer: TargetWriter,
    private val finish: (Proposal) -> Unit,
) {
    /** Asks first if that can cost a text. */
    fun apply(proposal: Proposal) =
        background.execute {
            val target = runCatching { Target.find(project, proposal.path) }
            queue.later {
                if (proposal.state == Proposal.State.UNHEARD) sayingWhyNot { apply(proposal, target.getOrThrow()) }
            }
        }

    private fun apply(proposal: Proposal, target: Target) {
        proposal.retarget(target)
        if (!ProposalQuestion.isApplied(project, proposal)) return
        writer.write(target, proposal) { flushed ->
            sayingWhyNot {
                flushed.getOrThrow()
                proposal.core.diffWritten(proposal.path)
                if (proposal.state == Proposal.State.UNHEARD) finish(proposal)
            }
        }
    }

    private fun sayingWhyNot(work: () -> Unit) =
        try {
            work()
        } catch (e: TargetException) {
            ProposalQuestion.tellUnapplied(project, e.message.orEmpty())
        }
}
