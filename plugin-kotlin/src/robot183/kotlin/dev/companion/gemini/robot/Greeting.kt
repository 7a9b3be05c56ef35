// Starts the robot on the platform of 2018.3.

package dev.companion.gemini.robot

import com.intellij.openapi.project.DumbAware
import com.intellij.openapi.project.Project
import com.intellij.openapi.startup.StartupActivity

class Greeting :
    StartupActivity,
    DumbAware {
    override fun runActivity(project: Project) {
        Sampler.start()
        Robot.projectOpened(project)
    }
}
