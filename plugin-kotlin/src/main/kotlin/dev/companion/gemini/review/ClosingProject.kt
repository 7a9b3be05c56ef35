// Asks before a project closes, and detects that it is closing.

package dev.companion.gemini.review

import com.intellij.openapi.project.Project
import com.intellij.openapi.project.ProjectManagerListener
import com.intellij.openapi.project.VetoableProjectManagerListener
import dev.companion.gemini.tabs.Proposal

/**
 * Calls [beforeSave], which closes tabs: the platform writes open tabs into workspace.xml, and would miss their files
 * at the next start. EDT.
 */
internal class ClosingProject(
    private val project: Project,
    private val proposals: Collection<Proposal>,
    private val queue: ProposalQueue,
    private val beforeSave: () -> Unit,
    private val closing: () -> Unit,
) : ProjectManagerListener {
    /** The user has agreed. */
    private var isClosing = false

    val veto = VetoableProjectManagerListener { it !== project || mayClose() }

    /** Asks the user once, although the platform asks twice in one event before it exits. */
    private fun mayClose(): Boolean {
        val edited = proposals.filter(Proposal::isEdited)
        if (isClosing || edited.isEmpty()) return true
        isClosing = ProposalQuestion.isProjectClosed(project, edited)
        queue.later { isClosing = false }
        return isClosing
    }

    override fun projectClosingBeforeSave(project: Project) {
        if (project === this.project) beforeSave()
    }

    override fun projectClosing(project: Project) {
        if (project === this.project) closing()
    }
}
