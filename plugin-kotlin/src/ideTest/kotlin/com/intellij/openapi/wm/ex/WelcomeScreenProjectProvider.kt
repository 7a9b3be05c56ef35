// Stands in for a class of today's platform.

package com.intellij.openapi.wm.ex

import com.intellij.openapi.project.Project

abstract class WelcomeScreenProjectProvider {
    companion object {
        var welcome: Project? = null

        fun isWelcomeScreenProject(project: Project): Boolean = project == welcome
    }
}
