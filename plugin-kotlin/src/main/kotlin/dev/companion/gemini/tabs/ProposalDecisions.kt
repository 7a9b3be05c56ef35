// Declares the decisions and actions of the user as the tab of a proposal sees them.

package dev.companion.gemini.tabs

import com.intellij.openapi.Disposable
import com.intellij.openapi.editor.Editor

/** For the EDT. */
internal interface ProposalDecisions {
    /** Knows input that was meant for another proposal. */
    val accidentalInput: AccidentalInputFilter

    /** Whether the project shares anything with its CLIs. If not, no model gets a reason. */
    val isShared: Boolean

    /** Asks first if the file has changed meanwhile. */
    fun accept(proposal: Proposal)

    /** Rejects by an explicit command, with the user's [reason] for the model. */
    fun reject(proposal: Proposal, reason: String? = null)

    /** Closes a proposal by Esc, a link or its tab, which might be accidental. */
    fun closeByUser(proposal: Proposal)

    /** Writes an undelivered proposal into the file. Asks first if that would lose a text. */
    fun apply(proposal: Proposal)

    /** Shows a proposal in its tab. */
    fun review(proposal: Proposal)

    /** Shows the next or previous waiting proposal. */
    fun go(from: Proposal?, by: Int)

    /** Shows how the file has changed since the proposal arrived. */
    fun showChange(proposal: Proposal)

    /** A tab has opened, perhaps by the platform itself. */
    fun tabOpened()

    /** The last tab of [file] has closed. A move to another window also closes a tab, but opens one at once. */
    fun tabGone(file: ProposalFile, byUser: Boolean)

    /** Registers the keys of actions in a tab. */
    fun registerActions(tab: ProposalPanel, parent: Disposable)

    /** Registers the keys of actions that the platform has on the editor itself. They end with the editor. */
    fun registerActions(editor: Editor)
}

/** The user's decision about a proposal. */
internal sealed class UserDecision {
    object Accepted : UserDecision()

    /** [reason] is for the model. */
    class Rejected(val reason: String? = null) : UserDecision()
}

/** The ids of actions, as in companion.xml. */
internal object ProposalActionIds {
    const val ACCEPT = "Companion.AcceptProposal"
    const val REJECT = "Companion.RejectProposal"
    const val REJECT_WITH_REASON = "Companion.RejectWithReason"
    const val REVERT = "Companion.RevertChange"
    private const val NEXT = "Companion.NextProposal"
    private const val PREVIOUS = "Companion.PreviousProposal"

    /** The actions of the tab's toolbar. */
    val IN_TOOLBAR = listOf(ACCEPT, REJECT, PREVIOUS, NEXT)

    /** The actions whose keys outrank an editor's own in the tab, such as Ctrl+Enter for a new line. */
    val WITH_KEYS = IN_TOOLBAR + REJECT_WITH_REASON + REVERT
}
