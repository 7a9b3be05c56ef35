// platform/platform-impl/src/com/intellij/ide/trustedProjects/TrustedProjectsListener.kt, 2023.2

package com.intellij.ide.trustedProjects

import com.intellij.openapi.project.Project
import com.intellij.util.messages.Topic

interface TrustedProjectsListener {
    fun onProjectTrusted(project: Project) {}

    fun onProjectUntrusted(project: Project) {}

    companion object {
        @JvmField
        val TOPIC: Topic<TrustedProjectsListener> =
            Topic("TrustedProjectsListener", TrustedProjectsListener::class.java)
    }
}
