// Defines the actions on single changes of a proposal: revert one, and go to the next.

package dev.companion.gemini.review

import com.intellij.codeInsight.hint.HintManager
import com.intellij.diff.fragments.LineFragment
import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.ScrollType
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.platform.CompanionAction
import dev.companion.gemini.tabs.Proposal

private fun line(editor: Editor) = editor.document.getLineNumber(editor.caretModel.offset)

/** Restores the file's lines for the change at the caret of the proposal. */
internal class RevertChangeAction : CompanionAction() {
    override fun update(event: AnActionEvent) {
        val isFound = find(event) != null
        event.presentation.isEnabled = isFound
        event.presentation.isVisible = isFound
    }

    override fun actionPerformed(event: AnActionEvent) {
        val (proposal, change) = find(event) ?: return
        proposal.revert(change)
    }

    private fun find(event: AnActionEvent): Pair<Proposal, LineFragment>? {
        val proposal = ProposalActions.proposal(event) ?: return null
        val editor = event.getData(CommonDataKeys.EDITOR) ?: return null
        return proposal.changeAt(editor, line(editor))?.let { Pair(proposal, it) }
    }
}

/**
 * Goes to the next change. Pressed again after the last change, goes to the next proposal. The platform's own action
 * stops at the last change and has the same key, so this action is registered on the inner editor. In a unified viewer
 * with other changes than the proposal's, such as without whitespace, the platform's action remains.
 */
internal class NextChangeAction(private val editor: Editor) : CompanionAction() {
    /** The position of the hint: the proposal and the caret's offset. */
    private var hint: Pair<Proposal, Int>? = null

    init {
        val platformAction = ActionManager.getInstance().getAction(PLATFORM_ACTION)
        registerCustomShortcutSet(platformAction.shortcutSet, editor.contentComponent, null)
    }

    override fun update(event: AnActionEvent) {
        event.presentation.isEnabled = ProposalActions.proposal(event)?.lineIn(editor, 0) != null
    }

    override fun actionPerformed(event: AnActionEvent) {
        val service = ProposalService.getInstance(event.project ?: return)
        val proposal = ProposalActions.proposal(event) ?: return
        val next = proposal.nextChange(editor, line(editor))
        val place = Pair(proposal, editor.caretModel.offset)
        if (next != null && next < editor.document.lineCount) {
            editor.caretModel.moveToOffset(editor.document.getLineStartOffset(next))
            editor.scrollingModel.scrollToCaret(ScrollType.CENTER)
        } else if (service.waiting().size > 1 && hint == place) {
            hint = null
            service.go(proposal, 1)
        } else if (service.waiting().size > 1) {
            hint = place
            val keys = CompanionBundle.keys(PLATFORM_ACTION)
            HintManager.getInstance().showInformationHint(editor, message("diff.next.hint", keys))
        }
    }

    private companion object {
        const val PLATFORM_ACTION = "NextDiff"
    }
}
