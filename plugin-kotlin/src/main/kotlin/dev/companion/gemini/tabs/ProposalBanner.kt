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
    private val text = text()
    private val links: List<Link> = links()
    private var labels = emptyList<JComponent>()

    /** Created for a banner that shows: [becomes] needs most others only for their texts. */
    private val panel by lazy { EditorNotificationPanel() }

    fun create(): JComponent {
        labels = links.map { link ->
            KeyboardAccess.add(panel.createActionLabel(link.label, link.follow)) { link.follow.run() }
        }
        becomes(this)
        return panel
    }

    /** Takes over the texts of [next] if the links are the same, so that the link under the mouse stays in place. */
    fun becomes(next: ProposalBanner): Boolean {
        if (proposal !== next.proposal || links.map { it.label } != next.links.map { it.label }) return false
        panel.text(next.text)
        panel.toolTipText = next.tooltip()
        labels.zip(next.links) { label, link -> label.toolTipText = link.tooltip }
        return true
    }

    /** Returns the whole text, which may not fit into the banner, and explains how to revert single changes. */
    private fun tooltip(): String {
        if (proposal.state != Proposal.State.OPEN) return text
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
                    decision(withKeys("diff.reject", ProposalActionIds.REJECT), message("diff.reject.tooltip")) {
                        decisions.reject(proposal)
                    },
                    decision(
                        withKeys("diff.reject.reason", ProposalActionIds.REJECT_WITH_REASON),
                        proposal.reasonTime,
                    ) {
                        proposal.file.askReason()
                    }.takeIf { proposal.takesReason },
                )
            }

            Proposal.State.UNDELIVERED -> {
                listOf(
                    decision(message("diff.apply")) { decisions.apply(proposal) },
                    link(message("diff.copy"), ::copy),
                    decision(message("diff.close")) { decisions.closeByUser(proposal) },
                )
            }

            Proposal.State.WRITING -> {
                listOf(link(message("diff.copy"), ::copy))
            }

            Proposal.State.ENDED -> {
                emptyList()
            }
        }

    private fun text(): String =
        when (proposal.state) {
            Proposal.State.OPEN -> if (proposal.deferred == null) offer() else message("diff.deferred")
            Proposal.State.UNDELIVERED -> message(proposal.undelivered)
            Proposal.State.WRITING -> message("diff.writing")
            Proposal.State.ENDED -> message("diff.ended")
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
        val tooltip: String?,
        val follow: Runnable,
    )

    private fun link(label: String, follow: () -> Unit) = Link(label, null, Runnable(follow))

    private fun decision(label: String, tooltip: String? = null, decide: () -> Unit): Link {
        val follow = { if (!decisions.accidentalInput.matches(EventQueue.getCurrentEvent(), proposal)) decide() }
        return Link(label, tooltip, Runnable(follow))
    }

    private fun withKeys(key: String, actionId: String) = CompanionBundle.withKeys(message(key), actionId)
}
