// Starts the plugin on today's platform.

package dev.companion.gemini.ui

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.startup.ProjectActivity
import dev.companion.gemini.project.CompanionService

/**
 * Not the EDT. The server starts on another thread. Without windows nobody can review, as when the IDE only inspects or
 * formats files. Tests of the platform, which have none either, start the services that they need.
 */
class CompanionStartupActivity : ProjectActivity {
    override suspend fun execute(project: Project) {
        if (ApplicationManager.getApplication().isHeadlessEnvironment) return
        CompanionNotifications.getInstance(project)
        CompanionService.getInstance(project).start()
    }
}
