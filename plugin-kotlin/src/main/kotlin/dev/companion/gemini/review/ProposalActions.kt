// Defines the actions on proposals, by key, toolbar and menu.

package dev.companion.gemini.review

import com.intellij.ide.IdeEventQueue
import com.intellij.ide.plugins.PluginManager
import com.intellij.openapi.Disposable
import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.actionSystem.CommonShortcuts
import com.intellij.openapi.actionSystem.IdeActions
import com.intellij.openapi.actionSystem.PlatformDataKeys
import com.intellij.openapi.editor.actionSystem.EditorActionManager
import com.intellij.openapi.extensions.PluginId
import dev.companion.gemini.platform.CompanionAction
import dev.companion.gemini.tabs.AccidentalInputFilter
import dev.companion.gemini.tabs.Proposal
import dev.companion.gemini.tabs.ProposalActionIds
import dev.companion.gemini.tabs.ProposalEditor
import dev.companion.gemini.tabs.ProposalFile
import dev.companion.gemini.tabs.ProposalPanel
import dev.companion.gemini.tabs.ProposalTabs
import dev.companion.gemini.tabs.ReasonField
import java.awt.event.KeyEvent

internal object ProposalActions {
    /** Registers the keys of a tab. */
    fun register(tab: ProposalPanel, parent: Disposable) {
        for (id in ProposalActionIds.WITH_KEYS) {
            ActionManager.getInstance().getAction(id).registerCustomShortcutSet(tab, parent)
        }
        CloseByEscapeAction(tab, parent).registerCustomShortcutSet(CommonShortcuts.ESCAPE, tab, parent)
    }

    /**
     * Returns the proposal with the focus. Keys need the focus; menus and Find Action also reach the visible proposal.
     */
    fun proposal(event: AnActionEvent): Proposal? {
        val proposal = focused(event) ?: if (event.inputEvent is KeyEvent) null else front(event)?.proposal
        return proposal?.takeIf { it.state == Proposal.State.OPEN }
    }

    /**
     * Returns the user's position among all proposals. Showing another one decides nothing, so the key works anywhere.
     */
    fun place(event: AnActionEvent): Proposal? = focused(event) ?: front(event)?.proposal

    /** Returns the proposal's tab with the focus, or the visible one. */
    fun tab(event: AnActionEvent): ProposalEditor? = around(event) ?: front(event)?.editors?.firstOrNull()

    /** Returns null for a hidden tab. The focus may still be leaving it, but the user does not mean a hidden tab. */
    private fun focused(event: AnActionEvent): Proposal? = around(event)?.proposal?.takeIf { it.file in inFront(event) }

    private fun around(event: AnActionEvent): ProposalEditor? =
        ProposalPanel.around(event.getData(PlatformDataKeys.CONTEXT_COMPONENT))?.editor

    private fun front(event: AnActionEvent): ProposalFile? = inFront(event).singleOrNull()

    private fun inFront(event: AnActionEvent): List<ProposalFile> = event.project?.let(ProposalTabs::inFront).orEmpty()
}

/** An action on the current proposal. */
internal abstract class ProposalAction : CompanionAction() {
    protected abstract fun decide(service: ProposalService, proposal: Proposal)

    /** Whether the event must be ignored. */
    protected open fun isAccidental(service: ProposalService, event: AnActionEvent, proposal: Proposal): Boolean =
        service.accidentalInput.matches(event.inputEvent, proposal)

    /** A key that is pressed in the field for a reason is meant for the field. */
    override fun update(event: AnActionEvent) {
        val isTyped = event.inputEvent is KeyEvent &&
            ReasonField.around(event.getData(PlatformDataKeys.CONTEXT_COMPONENT)) != null
        event.presentation.isEnabled = !isTyped && ProposalActions.proposal(event) != null
    }

    override fun actionPerformed(event: AnActionEvent) {
        val service = ProposalService.getInstance(event.project ?: return)
        val proposal = ProposalActions.proposal(event) ?: return
        if (!isAccidental(service, event, proposal)) decide(service, proposal)
    }
}

internal class AcceptProposalAction : ProposalAction() {
    override fun decide(service: ProposalService, proposal: Proposal) = service.accept(proposal)
}

internal class RejectProposalAction : ProposalAction() {
    override fun decide(service: ProposalService, proposal: Proposal) = service.reject(proposal)
}

/** Opens the field for the reason of a rejection. */
internal class RejectWithReasonAction : ProposalAction() {
    override fun update(event: AnActionEvent) {
        super.update(event)
        if (ProposalActions.proposal(event)?.takesReason != true) event.presentation.isEnabled = false
    }

    override fun decide(service: ProposalService, proposal: Proposal) = proposal.file.askReason()
}

/** Leads to the links of a proposal by keyboard. Not all of them have a key. */
internal class GoToBannerAction : CompanionAction() {
    override fun update(event: AnActionEvent) {
        event.presentation.isEnabled = ProposalActions.tab(event) != null
    }

    override fun actionPerformed(event: AnActionEvent) {
        ProposalActions.tab(event)?.focusBanner()
    }
}

/** An action on all waiting proposals. */
internal abstract class ProposalsAction : CompanionAction() {
    protected abstract fun perform(service: ProposalService, event: AnActionEvent)

    override fun update(event: AnActionEvent) {
        val service = event.project?.let(ProposalService::getInstance)
        event.presentation.isEnabled = service != null && service.waiting().isNotEmpty()
    }

    override fun actionPerformed(event: AnActionEvent) {
        perform(ProposalService.getInstance(event.project ?: return), event)
    }
}

internal class NextProposalAction : ProposalsAction() {
    override fun perform(service: ProposalService, event: AnActionEvent) = service.go(ProposalActions.place(event), 1)
}

internal class PreviousProposalAction : ProposalsAction() {
    override fun perform(service: ProposalService, event: AnActionEvent) = service.go(ProposalActions.place(event), -1)
}

internal class AcceptAllProposalsAction : ProposalsAction() {
    override fun perform(service: ProposalService, event: AnActionEvent) = service.acceptAll()
}

internal class RejectAllProposalsAction : ProposalsAction() {
    override fun perform(service: ProposalService, event: AnActionEvent) = service.rejectAll()
}

/**
 * Esc first acts as in an editor: it hides a popup, a search or a hint, or ends a selection or several carets. With
 * IdeaVim it also ends an edit mode, which is unknown here, so there it never closes a proposal.
 */
private class CloseByEscapeAction(
    tab: ProposalPanel,
    parent: Disposable,
) : ProposalAction() {
    /** Esc moves the focus from tool windows and popups to the editor. A repeated Esc must not close the proposal. */
    private val elsewhere = AccidentalInputFilter()

    init {
        val watch = IdeEventQueue.EventDispatcher { event ->
            val isEscape = event is KeyEvent && event.id == KeyEvent.KEY_PRESSED && event.keyCode == KeyEvent.VK_ESCAPE
            if (isEscape && !ProposalTabs.hasFocus(tab.editor)) elsewhere.expect(listOfNotNull(tab.editor.proposal))
            false
        }
        IdeEventQueue.getInstance().addPostprocessor(watch, parent)
    }

    override fun isAccidental(service: ProposalService, event: AnActionEvent, proposal: Proposal): Boolean =
        elsewhere.matches(event.inputEvent, proposal) || super.isAccidental(service, event, proposal)

    override fun decide(service: ProposalService, proposal: Proposal) = service.closeByUser(proposal)

    override fun update(event: AnActionEvent) {
        super.update(event)
        val isFree = !PluginManager.isPluginInstalled(PluginId.getId("IdeaVIM")) && !isUsedByEditor(event)
        if (!isFree) event.presentation.isEnabled = false
    }

    private fun isUsedByEditor(event: AnActionEvent): Boolean {
        val editor = event.getData(CommonDataKeys.EDITOR) ?: return false
        if (editor.headerComponent != null) return true
        val escape = EditorActionManager.getInstance().getActionHandler(IdeActions.ACTION_EDITOR_ESCAPE)
        return escape.isEnabled(editor, editor.caretModel.currentCaret, event.dataContext)
    }
}
