// Shows how a proposal's file has changed since the proposal arrived.

package dev.companion.gemini.tabs

import com.intellij.diff.DiffContentFactory
import com.intellij.diff.DiffManager
import com.intellij.diff.requests.SimpleDiffRequest
import com.intellij.openapi.project.Project
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.assertEdt

internal object ChangedTarget {
    fun show(project: Project, proposal: Proposal) {
        assertEdt()
        val contents = DiffContentFactory.getInstance()
        val (now, type) = proposal.target.run { text to type }
        val request = SimpleDiffRequest(
            message("diff.changed.title", proposal.shownPath),
            contents.create(project, proposal.before?.toString().orEmpty(), type),
            contents.create(project, now?.toString().orEmpty(), type),
            message("diff.changed.before"),
            message("diff.changed.now"),
        )
        DiffManager.getInstance().showDiff(project, request)
    }
}
