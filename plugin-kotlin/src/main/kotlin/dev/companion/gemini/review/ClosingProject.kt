// Detects that a project is closing.

package dev.companion.gemini.review

import com.intellij.openapi.project.Project
import com.intellij.openapi.project.ProjectManagerListener

/**
 * Calls [beforeSave], which closes tabs: the platform writes open tabs into workspace.xml, and would miss their files
 * at the next start. EDT.
 */
internal class ClosingProject(
    private val project: Project,
    private val beforeSave: () -> Unit,
    private val closing: () -> Unit,
) : ProjectManagerListener {
    override fun projectClosingBeforeSave(project: Project) {
        if (project === this.project) beforeSave()
    }

    override fun projectClosing(project: Project) {
        if (project === this.project) closing()
    }
}
