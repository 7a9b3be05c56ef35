// Represents the tab of a proposal. It is in memory only, so no tab is restored after a restart.

package dev.companion.gemini.tabs

import com.intellij.testFramework.LightVirtualFile
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.TabFileType
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
) : LightVirtualFile(ShownPath.name(targetPath), TabFileType("CLI proposal", { message("diff.type") }, icon), "") {
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

    /** The tab's title, unique among the tabs. */
    @Volatile
    internal var title: String = ShownPath.name(targetPath)
        private set

    init {
        isWritable = false
        Platform.forbidPreview(this)
    }

    /** Returns whether the title has changed. */
    internal fun rename(title: String): Boolean {
        assertEdt()
        return (title != this.title).also { this.title = title }
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
