// Owns what today's platform has in this place.

package com.intellij.openapi.wm.ex

import com.intellij.openapi.project.Project

abstract class WelcomeScreenProjectProvider {
    companion object {
        var welcome: Project? = null

        fun isWelcomeScreenProject(project: Project): Boolean = project == welcome
    }
}
