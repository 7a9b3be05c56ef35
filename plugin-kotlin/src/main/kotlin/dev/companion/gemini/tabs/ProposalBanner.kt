// Shows text and links above the viewer of a proposal.

package dev.companion.gemini.tabs

import com.intellij.ui.EditorNotificationPanel
import com.intellij.xml.util.XmlStringUtil
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.platform.KeyboardAccess
import dev.companion.gemini.platform.copyToClipboard
import java.awt.EventQueue
import javax.swing.JComponent

/** The content of a banner. For the EDT. */
internal class ProposalBanner(
    private val proposal: Proposal,
    private val decisions: ProposalDecisions,
) {
    private val isOneOfSeveral get() = proposal.position.count > 1
    private var text = text()
    private val links: List<Link> = links()

    private val panel by lazy {
        EditorNotificationPanel().also { panel ->
            labels = links.map { link ->
                KeyboardAccess.add(panel.createActionLabel(link.label, link.follow)) { link.follow.run() }
            }
            show(panel)
        }
    }

    private var labels = emptyList<JComponent>()

    val component: JComponent get() = panel

    /** Takes over the texts of [next] if the links are the same, so that the link under the mouse stays in place. */
    fun becomes(next: ProposalBanner): Boolean {
        val isSame = proposal === next.proposal && links.map { it.label } == next.links.map { it.label }
        val tooltips = next.links.map { it.tooltip }
        if (isSame && (text != next.text || tooltips != links.map { it.tooltip })) {
            text = next.text
            links.zip(tooltips) { link, tooltip -> link.tooltip = tooltip }
            show(panel)
        }
        return isSame
    }

    private fun show(panel: EditorNotificationPanel) {
        panel.text(text)
        panel.toolTipText = if (proposal.state == Proposal.State.OPEN) tooltip() else text
        labels.zip(links) { label, link -> label.toolTipText = link.tooltip }
    }

    /** Returns the whole text, which may not fit into the banner, and explains how to revert single changes. */
    private fun tooltip(): String {
        val hint = message("diff.hint", CompanionBundle.keys(ProposalActionIds.REVERT))
        return "<html>${XmlStringUtil.escapeString(text)}<br>${XmlStringUtil.escapeString(hint)}</html>"
    }

    /** The decisions come last, so that they stay in place when other links appear or disappear. */
    private fun links(): List<Link> =
        when (proposal.state) {
            Proposal.State.OPEN -> {
                listOfNotNull(
                    link(message("diff.changed.show")) { decisions.showChange(proposal) }.takeIf { proposal.isStale },
                    link(message("diff.previous")) { decisions.go(proposal, -1) }.takeIf { isOneOfSeveral },
                    link(message("diff.next")) { decisions.go(proposal, 1) }.takeIf { isOneOfSeveral },
                    decision(withKeys("diff.accept", ProposalActionIds.ACCEPT)) { decisions.accept(proposal) },
                    decision(withKeys("diff.reject", ProposalActionIds.REJECT)) { decisions.reject(proposal) }
                        .also { it.tooltip = message("diff.reject.tooltip") },
                    decision(withKeys("diff.reject.reason", ProposalActionIds.REJECT_WITH_REASON)) {
                        proposal.file.askReason()
                    }.also { it.tooltip = message(proposal.reasonTime.key) }
                        .takeIf { proposal.takesReason },
                )
            }

            Proposal.State.UNDELIVERED -> {
                listOf(
                    decision(message("diff.apply")) { decisions.apply(proposal) },
                    link(message("diff.copy"), ::copy),
                    decision(message("diff.close")) { decisions.closeByUser(proposal) },
                )
            }

            Proposal.State.WRITING, Proposal.State.ENDED -> {
                emptyList()
            }
        }

    private fun text(): String =
        when (proposal.state) {
            Proposal.State.OPEN -> {
                if (proposal.deferred == null) offer() else message("diff.deferred")
            }

            Proposal.State.UNDELIVERED -> {
                message(proposal.undelivered)
            }

            Proposal.State.WRITING -> {
                message("diff.writing")
            }

            Proposal.State.ENDED -> {
                message("diff.ended")
            }
        }

    private fun offer(): String {
        val at = proposal.position
        val position = if (isOneOfSeveral) message("diff.position", at.number, at.count) else null
        val remarks = proposal.remarks.map { message(it.key) }
        return (listOfNotNull(position, proposal.offer, proposal.changes?.summary) + remarks).joinToString(" ")
    }

    private fun copy() = copyToClipboard(proposal.document.text)

    private class Link(
        val label: String,
        val follow: Runnable,
    ) {
        var tooltip: String? = null
    }

    private fun link(label: String, follow: () -> Unit) = Link(label, Runnable(follow))

    private fun decision(label: String, decide: () -> Unit) =
        link(label) { if (!decisions.accidentalInput.matches(EventQueue.getCurrentEvent(), proposal)) decide() }

    private fun withKeys(key: String, actionId: String) = CompanionBundle.withKeys(message(key), actionId)
}
