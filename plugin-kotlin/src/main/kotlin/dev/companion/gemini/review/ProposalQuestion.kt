// Asks before the user's text in a proposal is dropped, or a changed file is overwritten, and shows how it has changed.

package dev.companion.gemini.review

import com.intellij.diff.DiffContentFactory
import com.intellij.diff.DiffManager
import com.intellij.diff.requests.SimpleDiffRequest
import com.intellij.openapi.project.Project
import com.intellij.openapi.ui.Messages
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.ask
import dev.companion.gemini.tabs.Proposal
import dev.companion.gemini.tabs.ProposalPosition

/** For the EDT. Each question blocks until the answer; Enter and Esc choose the answer that changes nothing. */
internal object ProposalQuestion {
    fun isRejected(project: Project, proposal: Proposal): Boolean =
        ask(project, message("diff.ask", proposal.shownPath), "diff.ask.keep", "diff.reject")

    /** Asks only if the file would lose changes, or come back. */
    fun isApplied(project: Project, proposal: Proposal): Boolean {
        if (!proposal.overwrites) return true
        val key = when {
            proposal.isDeleted -> "diff.ask.apply.deleted"
            proposal.isCreated -> "diff.ask.apply.created"
            else -> "diff.ask.apply.changed"
        }
        return ask(project, message(key, proposal.shownPath), "diff.ask.none", "diff.apply")
    }

    fun isAppliedTwice(project: Project, proposal: Proposal): Boolean =
        ask(project, message("diff.ask.apply.queued", proposal.shownPath), "diff.ask.none", "diff.apply")

    /** Shows the reason why the text cannot be written into the file; there is no choice. */
    fun reportUnapplied(project: Project, why: String) =
        Messages.showErrorDialog(project, Platform.dialogMessage(why), message("diff.apply"))

    fun isProjectClosed(project: Project, proposals: List<Proposal>): Boolean =
        ask(
            project,
            message("diff.ask.project", proposals.size, proposals.first().shownPath),
            "diff.ask.project.keep",
            "diff.ask.project.close",
        )

    /** The user's choice for a proposal whose file has changed since it arrived. */
    enum class Stale { KEEP, SHOW, ACCEPT }

    fun stale(project: Project, proposal: Proposal): Stale {
        val key = when {
            !proposal.replaysEdits || proposal.isEdited -> "diff.ask.stale"
            proposal.isInFile -> "diff.ask.stale.same"
            else -> "diff.ask.stale.replayed"
        }
        val question = message(key, proposal.shownPath)
        val answers = listOf(message("diff.ask.keep"), message("diff.changed.show"), message("diff.ask.stale.accept"))
        return Stale.values().getOrElse(ask(project, question, answers)) { Stale.KEEP }
    }

    /** Shows how the file has changed since the proposal arrived. */
    fun showChange(project: Project, proposal: Proposal) {
        val contents = DiffContentFactory.getInstance()
        val (now, type) = proposal.target.run { text to type }
        val request = SimpleDiffRequest(
            message("diff.changed.title", proposal.shownPath),
            contents.create(project, proposal.before?.toString().orEmpty(), type),
            contents.create(project, now?.toString().orEmpty(), type),
            message("diff.changed.before"),
            message("diff.changed.now"),
        )
        DiffManager.getInstance().showDiff(project, request)
    }

    /** The proposals to accept: all that can be accepted, or those of one CLI; none after Cancel. */
    fun accepted(project: Project, round: BulkReview): List<Proposal> {
        val left = (round.all - round.acceptable).map { "${it.shownPath}: ${message(checkNotNull(it.obstacle).key)}" }
        val question = listOfNotNull(
            message("diff.ask.accept", round.acceptable.size),
            message("diff.ask.accept.edited", round.acceptable.count(Proposal::isEdited)),
            counted(round.acceptable),
            if (left.isEmpty()) null else message("diff.ask.accept.left", left.size) + "\n" + indented(left),
        )
        return chosen(project, question, round.acceptable, "diff.ask.accept.all")
    }

    /** The proposals to reject. */
    fun rejected(project: Project, round: BulkReview): List<Proposal> {
        val question = listOf(
            message("diff.ask.reject", round.all.size),
            message("diff.ask.reject.edited", round.all.count(Proposal::isEdited)),
            counted(round.all),
        )
        return chosen(project, question, round.all, "diff.ask.reject.all")
    }

    /** Returns [proposals], those of one CLI, or none. */
    private fun chosen(
        project: Project,
        question: List<String>,
        proposals: List<Proposal>,
        all: String,
    ): List<Proposal> {
        val clis = proposals.groupBy(Proposal::cli).toSortedMap().takeIf { it.size in SEVERAL_CLIS }.orEmpty()
        val choices = listOf(Pair(message("diff.ask.none"), emptyList<Proposal>())) +
            listOf(Pair(message(all, proposals.size), proposals)).filter { proposals.isNotEmpty() } +
            clis.map { (cli, those) ->
                Pair(message("diff.ask.one.cli", ProposalPosition.nameOf(cli), those.size), those)
            }
        val answer = ask(project, question.filter(String::isNotEmpty).joinToString("\n"), choices.map { it.first })
        return choices.getOrNull(answer)?.second.orEmpty()
    }

    /** Lists the files, with the number of changed lines each. */
    private fun counted(proposals: List<Proposal>): String =
        indented(proposals.map { listOfNotNull(it.shownPath, it.changes?.summary).joinToString("  ") })

    private fun indented(lines: List<String>): String =
        CompanionBundle.shortened(lines, SHOWN).joinToString("\n") { "    $it" }

    private fun ask(project: Project, question: String, keep: String, go: String): Boolean =
        ask(project, question, listOf(message(keep), message(go))) == 1

    private fun ask(project: Project, question: String, answers: List<String>): Int =
        project.ask(message("diff.ask.title"), question, answers)

    /** The most files that a question lists. */
    private const val SHOWN = 10

    /** The most CLIs with an answer of their own. */
    private val SEVERAL_CLIS = 2..4
}

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
            proposal.document.modificationStamp != asked[proposal] -> message("diff.all.touched")
            else -> proposal.obstacle?.let { message(it.key) }
        }
}
