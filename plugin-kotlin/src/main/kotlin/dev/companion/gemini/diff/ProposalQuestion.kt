// Owns the question before what the user has written in a proposal goes.

package dev.companion.gemini.diff

import com.intellij.openapi.project.Project
import com.intellij.openapi.ui.Messages
import dev.companion.gemini.CompanionBundle

/** For the EDT. Each waits for the answer; Enter and Esc are the one that changes nothing. */
internal object ProposalQuestion {
    fun isRejected(project: Project, proposal: Proposal): Boolean =
        ask(project, CompanionBundle.message("diff.ask", proposal.shownPath), "diff.ask.keep", "diff.reject")

    fun isProjectClosed(project: Project, proposals: List<Proposal>): Boolean =
        ask(
            project,
            CompanionBundle.message("diff.ask.project", proposals.size, proposals.first().shownPath),
            "diff.ask.project.keep",
            "diff.ask.project.close",
        )

    private fun ask(project: Project, question: String, keep: String, go: String): Boolean {
        val answers = arrayOf(CompanionBundle.message(keep), CompanionBundle.message(go))
        val title = CompanionBundle.message("diff.ask.title")
        return Messages.showDialog(project, question, title, answers, 0, Messages.getQuestionIcon()) == 1
    }
}
