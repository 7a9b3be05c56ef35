// Owns what a proposal's tab says and offers above the viewer.

package dev.companion.gemini.diff

import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.keymap.KeymapUtil
import com.intellij.openapi.project.Project
import com.intellij.ui.EditorNotificationPanel
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.Delivery
import javax.swing.JComponent

internal object ProposalBanner {
    fun create(project: Project, proposal: Proposal): JComponent {
        val text = text(proposal)
        val banner = EditorNotificationPanel().text(text)
        banner.toolTipText = text
        val service = ProposalService.getInstance(project)
        when (proposal.state) {
            Proposal.State.OPEN -> {
                banner.createActionLabel(label("diff.accept", ProposalActions.ACCEPT)) { service.accept(proposal) }
                banner.createActionLabel(label("diff.reject", ProposalActions.REJECT)) { service.reject(proposal) }
            }

            Proposal.State.UNHEARD -> {
                banner.createActionLabel(CompanionBundle.message("diff.apply")) { service.apply(proposal) }
                banner.createActionLabel(CompanionBundle.message("diff.copy")) { service.copy(proposal) }
                banner.createActionLabel(CompanionBundle.message("diff.close")) { service.closeByUser(proposal) }
            }

            Proposal.State.ENDED -> {
                Unit
            }
        }
        return banner
    }

    private fun text(proposal: Proposal): String =
        when (proposal.state) {
            Proposal.State.OPEN -> {
                (listOf(proposal.offer) + proposal.remarks.map { CompanionBundle.message(it.key) }).joinToString(" ")
            }

            Proposal.State.UNHEARD -> {
                val queued = proposal.delivery == Delivery.QUEUED
                CompanionBundle.message(if (queued) "diff.unheard.queued" else "diff.unheard.unknown")
            }

            Proposal.State.ENDED -> {
                CompanionBundle.message("diff.ended")
            }
        }

    /** The keys are the user's to change, so they are looked up. */
    private fun label(key: String, actionId: String): String {
        val keys = KeymapUtil.getFirstKeyboardShortcutText(ActionManager.getInstance().getAction(actionId))
        val text = CompanionBundle.message(key)
        return if (keys.isEmpty()) text else CompanionBundle.message("diff.withKeys", text, keys)
    }
}
