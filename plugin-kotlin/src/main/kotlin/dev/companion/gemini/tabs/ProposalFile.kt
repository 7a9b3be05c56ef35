// Represents the tab of a proposal.

package dev.companion.gemini.tabs

import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.TabFile
import dev.companion.gemini.target.ShownPath
import javax.swing.Icon

/**
 * The tab of the proposals for one path: a later one replaces an earlier one. For the EDT, except
 * the `val`s.
 */
class ProposalFile internal constructor(
    /** The proposal's file, as the CLI wrote it. */
    val targetPath: String,
    /** That of the file's own type. */
    icon: Icon?,
    internal val decisions: ProposalDecisions,
) : TabFile(ShownPath.name(targetPath), "CLI proposal", { message("diff.type") }, icon) {
    /** The content of the tab; set before the tab opens. */
    internal var proposal: Proposal? = null
        set(value) {
            field = value
            editors.forEach(ProposalEditor::showProposal)
        }

    /** More than one if the user splits the tab. */
    internal val editors = mutableListOf<ProposalEditor>()

    /** Whether the user closes the tab that is about to close. */
    internal var isClosedByUser = false

    /** Unique among the tabs. */
    @Volatile
    override var tabTitle: String = ShownPath.name(targetPath)
        private set

    /** Returns whether the title has changed. */
    internal fun rename(title: String): Boolean {
        assertEdt()
        return (title != tabTitle).also { tabTitle = title }
    }

    /** Opens the field for the reason of a rejection, in the tab with the focus or the first one. */
    internal fun askReason() {
        assertEdt()
        (editors.find(ProposalTabs::hasFocus) ?: editors.firstOrNull())?.askReason()
    }

    internal fun editorGone(editor: ProposalEditor) {
        assertEdt()
        editors -= editor
        val byUser = isClosedByUser
        isClosedByUser = false
        if (editors.isEmpty()) decisions.tabGone(this, byUser)
    }
}
