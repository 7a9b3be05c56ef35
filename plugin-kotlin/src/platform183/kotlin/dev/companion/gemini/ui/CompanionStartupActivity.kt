// Starts the plugin on the platform of 2018.3.

package dev.companion.gemini.ui

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.project.DumbAware
import com.intellij.openapi.project.Project
import com.intellij.openapi.startup.StartupActivity

/** EDT. Tests of the platform start the services that they need. */
class CompanionStartupActivity :
    StartupActivity,
    DumbAware {
    override fun runActivity(project: Project) {
        if (!ApplicationManager.getApplication().isUnitTestMode) CompanionStartup.projectOpened(project)
    }
}
