// Starts the plugin in a project that has been opened, on both platforms.

package dev.companion.gemini.ui

import com.intellij.openapi.project.Project
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.project.CompanionService

object CompanionStartup {
    /** Any thread. Returns at once; the server starts on another thread. */
    fun projectOpened(project: Project) {
        Platform.service(project, CompanionNotifications::class.java)
        CompanionService.getInstance(project).start()
    }
}
