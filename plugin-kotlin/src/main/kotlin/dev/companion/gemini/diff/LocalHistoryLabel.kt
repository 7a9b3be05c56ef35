// Labels the Local History before a proposal gets into its file.

package dev.companion.gemini.diff

import com.intellij.history.LocalHistory
import com.intellij.openapi.project.Project
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.assertEdt

internal object LocalHistoryLabel {
    /** The label names the CLI and the file, and holds no text. EDT. */
    fun putBefore(project: Project, proposal: Proposal) {
        assertEdt()
        val name = CompanionBundle.message("diff.history", proposal.place.who, proposal.shownPath)
        LocalHistory.getInstance().putSystemLabel(project, name)
    }
}
