// Labels the Local History before a proposal is written to its file.

package dev.companion.gemini.target

import com.intellij.history.LocalHistory
import com.intellij.openapi.diagnostic.Logger
import com.intellij.openapi.project.Project
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.review.Proposal

internal object LocalHistoryLabel {
    private val LOG = Logger.getInstance("#dev.companion.gemini")

    /** Adds a label with the CLI and the file, but without text. If it fails, the edit goes on. EDT. */
    @Suppress("TooGenericExceptionCaught")
    fun putBefore(project: Project, proposal: Proposal) {
        assertEdt()
        val name = CompanionBundle.message("diff.history", proposal.place.who, proposal.shownPath)
        try {
            LocalHistory.getInstance().putSystemLabel(project, name)
        } catch (e: Exception) {
            LOG.warn("the Local History has no label", e)
        } catch (e: LinkageError) {
            LOG.warn(CompanionBundle.missing(e))
        }
    }
}
