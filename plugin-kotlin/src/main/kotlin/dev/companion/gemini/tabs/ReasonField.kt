// Asks for the reason of a rejection, below the banner of a proposal.

package dev.companion.gemini.tabs

import com.intellij.openapi.actionSystem.CommonShortcuts
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Key
import com.intellij.ui.DocumentAdapter
import com.intellij.ui.components.JBLabel
import com.intellij.ui.components.JBTextField
import com.intellij.util.ui.JBUI
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.KeyboardAccess
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.tooLong
import java.awt.BorderLayout
import java.awt.Component
import java.awt.EventQueue
import javax.swing.Box
import javax.swing.JPanel
import javax.swing.event.DocumentEvent

/**
 * A field with the time when the model gets the reason. Enter sends the reason, Esc closes the field. A text that was not
 * sent is there again in the next field for the same file. For the EDT.
 */
internal class ReasonField(
    project: Project,
    private val tab: ProposalEditor,
    private val decisions: ProposalDecisions,
) : JPanel(BorderLayout()) {
    private val field = JBTextField(COLUMNS)
    private val time = JBLabel(" ", UIUtil.ComponentStyle.SMALL)

    /** The texts that were not sent, by the proposal's file: its tab may close at any time. */
    private val drafts =
        project.getUserData(DRAFTS) ?: HashMap<String, String>().also { project.putUserData(DRAFTS, it) }

    init {
        border = JBUI.Borders.empty(GAP, 2 * GAP)
        val label = JBLabel(message("diff.reason")).also { it.labelFor = field }
        val links = Box.createHorizontalBox()
        for (link in listOf(
            Platform.link(message("diff.reason.send"), ::send),
            Platform.link(message("diff.reason.cancel"), tab::closeReason),
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
        field.text = drafts[tab.targetPath].orEmpty()
        val typing = object : DocumentAdapter() {
            override fun textChanged(event: DocumentEvent) {
                drafts[tab.targetPath] = field.text
                proposalChanged()
            }
        }
        field.document.addDocumentListener(typing)
        field.addActionListener { send() }
        KeyboardAccess.onKey(CommonShortcuts.ESCAPE, this, tab, tab::closeReason)
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
                time.text = tooLong(field.text) ?: proposal.reasonTime
            }

            else -> {
                tab.closeReason()
            }
        }
    }

    override fun requestFocusInWindow(): Boolean = field.requestFocusInWindow()

    override fun hasFocus(): Boolean = field.hasFocus()

    /**
     * Does nothing without a reason, because the user has not chosen a plain rejection, nor with one that is too long.
     */
    private fun send() {
        val proposal = tab.proposal ?: return
        if (tooLong(field.text) != null) return
        val reason = field.text.trim()
        if (reason.isEmpty() || decisions.accidentalInput.matches(EventQueue.getCurrentEvent(), proposal)) return
        decisions.reject(proposal, reason)
    }

    companion object {
        private val DRAFTS = Key.create<MutableMap<String, String>>("Companion.ReasonDrafts")
        private const val COLUMNS = 40
        private const val GAP = 6

        /** The server has got the reason for this file. */
        fun forgetDraft(project: Project, targetPath: String) {
            project.getUserData(DRAFTS)?.remove(targetPath)
        }

        fun around(component: Component?): ReasonField? =
            generateSequence(component) { it.parent }.filterIsInstance<ReasonField>().firstOrNull()
    }
}
