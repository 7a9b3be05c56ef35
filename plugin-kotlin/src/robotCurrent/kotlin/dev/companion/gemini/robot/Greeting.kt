// Starts the robot on today's platform.

package dev.companion.gemini.robot

import com.intellij.openapi.project.Project
import com.intellij.openapi.startup.ProjectActivity

class Greeting : ProjectActivity {
    override suspend fun execute(project: Project) = Robot.projectOpened(project)
}
