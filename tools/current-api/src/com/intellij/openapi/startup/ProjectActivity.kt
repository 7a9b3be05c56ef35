// platform/core-api/src/com/intellij/openapi/startup/StartupActivity.kt, 2022.3

package com.intellij.openapi.startup

import com.intellij.openapi.project.Project

interface ProjectActivity {
    suspend fun execute(project: Project)
}
