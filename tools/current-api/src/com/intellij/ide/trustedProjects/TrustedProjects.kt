// platform/platform-impl/src/com/intellij/ide/trustedProjects/TrustedProjects.kt, 2023.2

package com.intellij.ide.trustedProjects

import com.intellij.openapi.project.Project

object TrustedProjects {
    @JvmStatic
    external fun isProjectTrusted(project: Project): Boolean
}
