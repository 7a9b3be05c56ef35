// Represents the tab of a proposal. It is in memory only, so no tab is restored after a restart.

package dev.companion.gemini.tabs

import com.intellij.testFramework.LightVirtualFile
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.ProposalKind
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
    icon: Icon?,
    internal val decisions: ProposalDecisions,
) : LightVirtualFile(ShownPath.name(targetPath), ProposalFileType(icon), "") {
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

    /** Whether the proposal changes or creates its file. */
    @Volatile
    internal var kind = ProposalKind.CHANGE
        private set

    init {
        isWritable = false
        Platform.forbidPreview(this)
    }

    /** Returns whether the title or the kind has changed. */
    internal fun rename(title: String, kind: ProposalKind): Boolean {
        assertEdt()
        if (this.title == title && this.kind == kind) return false
        this.title = title
        this.kind = kind
        return true
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

/** Looks like the target's type. */
private class ProposalFileType(icon: Icon?) : TabFileType("CLI proposal", { message("diff.type") }, icon)
