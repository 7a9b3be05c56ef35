// Starts the plugin on the platform of 2018.3.

package dev.companion.gemini.ui

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.project.DumbAware
import com.intellij.openapi.project.Project
import com.intellij.openapi.startup.StartupActivity
import dev.companion.gemini.project.CompanionService

/**
 * EDT. The server starts on another thread. Without windows nobody can review, as when the IDE only inspects or formats
 * files. Tests of the platform, which have none either, start the services that they need.
 */
class CompanionStartupActivity :
    StartupActivity,
    DumbAware {
    override fun runActivity(project: Project) {
        if (ApplicationManager.getApplication().isHeadlessEnvironment) return
        CompanionNotifications.getInstance(project)
        CompanionService.getInstance(project).start()
    }
}
