// Asks for the reason of a rejection, below the banner of a proposal.

package dev.companion.gemini.tabs

import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonShortcuts
import com.intellij.openapi.project.Project
import com.intellij.ui.components.JBLabel
import com.intellij.ui.components.JBTextField
import com.intellij.ui.components.labels.LinkLabel
import com.intellij.util.ui.JBUI
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.CompanionAction
import dev.companion.gemini.review.Proposal
import dev.companion.gemini.review.ProposalService
import java.awt.BorderLayout
import java.awt.Component
import java.awt.EventQueue
import javax.swing.Box
import javax.swing.JPanel

/**
 * A field with the time when the model gets the reason. Enter sends the reason, Esc closes the field. A later proposal
 * in the same tab keeps the typed text. For the EDT.
 */
internal class ReasonField(
    project: Project,
    private val tab: ProposalEditor,
) : JPanel(BorderLayout()) {
    private val service = ProposalService.getInstance(project)
    private val field = JBTextField(COLUMNS)
    private val time = JBLabel(" ", UIUtil.ComponentStyle.SMALL)

    init {
        border = JBUI.Borders.empty(GAP, 2 * GAP)
        val label = JBLabel(message("diff.reason")).also { it.labelFor = field }
        val links = Box.createHorizontalBox()
        for (link in listOf(
            LinkLabel.create(message("diff.reason.send"), ::send),
            LinkLabel.create(message("diff.reason.cancel"), tab::closeReason),
        )) {
            links.add(Box.createHorizontalStrut(JBUI.scale(2 * GAP)))
            links.add(link)
        }
        label.border = JBUI.Borders.emptyRight(GAP)
        add(label, BorderLayout.WEST)
        add(field, BorderLayout.CENTER)
        add(links, BorderLayout.EAST)
        time.foreground = UIUtil.getContextHelpForeground()
        time.border = JBUI.Borders.empty(GAP / 2, 0, 0, 0)
        add(time, BorderLayout.SOUTH)
        field.addActionListener { send() }
        val close = object : CompanionAction() {
            override fun actionPerformed(event: AnActionEvent) = tab.closeReason()
        }
        close.registerCustomShortcutSet(CommonShortcuts.ESCAPE, this, tab)
    }

    /**
     * Shows the time for the tab's present proposal. Closes if that takes no reason. After the end of a proposal the
     * tab closes, or soon shows another one.
     */
    fun proposalChanged() {
        assertEdt()
        val proposal = tab.proposal
        when {
            proposal == null || proposal.state == Proposal.State.ENDED -> {
                Unit
            }

            proposal.state == Proposal.State.OPEN && proposal.takesReason -> {
                time.text =
                    message(proposal.reasonTime.key)
            }

            else -> {
                tab.closeReason()
            }
        }
    }

    override fun requestFocusInWindow(): Boolean = field.requestFocusInWindow()

    override fun hasFocus(): Boolean = field.hasFocus()

    /** Does nothing without a reason, because the user has not chosen a plain rejection. */
    private fun send() {
        val proposal = tab.proposal ?: return
        val reason = field.text.trim()
        if (reason.isEmpty() || service.accidentalInput.matches(EventQueue.getCurrentEvent(), proposal)) return
        service.reject(proposal, reason)
    }

    companion object {
        private const val COLUMNS = 40
        private const val GAP = 6

        fun around(component: Component?): ReasonField? =
            generateSequence(component) { it.parent }.filterIsInstance<ReasonField>().firstOrNull()
    }
}
