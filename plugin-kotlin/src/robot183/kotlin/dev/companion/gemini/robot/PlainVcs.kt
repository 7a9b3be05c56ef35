// Provides a version control without changes, since some actions of the platform need one.

package dev.companion.gemini.robot

import com.intellij.openapi.options.Configurable
import com.intellij.openapi.project.Project
import com.intellij.openapi.vcs.AbstractVcs
import com.intellij.openapi.vcs.ProjectLevelVcsManager
import com.intellij.openapi.vcs.VcsDirectoryMapping
import com.intellij.openapi.vcs.versionBrowser.CommittedChangeList

internal class PlainVcs(project: Project) : AbstractVcs<CommittedChangeList>(project, NAME) {
    override fun getDisplayName(): String = NAME

    override fun getConfigurable(): Configurable? = null

    companion object {
        /** The same name as in plugin.xml. */
        private const val NAME = "Plain"

        /** Puts the whole project under this version control. */
        fun control(project: Project) {
            ProjectLevelVcsManager.getInstance(project).directoryMappings = listOf(VcsDirectoryMapping("", NAME))
        }
    }
}
