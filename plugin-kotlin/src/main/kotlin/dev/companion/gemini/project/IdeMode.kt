// Calls platform members by name that are internal, or missing in 2024.2.

package dev.companion.gemini.project

import com.intellij.openapi.project.Project

internal object IdeMode {
    /** Whether the user's windows and the project are in two processes, as in Remote Development. */
    fun isRemote(): Boolean =
        System.getProperty("idea.platform.prefix") == "JetBrainsClient" ||
            asked { Class.forName("com.intellij.idea.AppMode").getMethod("isRemoteDevHost").invoke(null) }

    /** Returns whether [project] is a welcome screen in the form of a project. In PyCharm's, users also write files. */
    fun isWelcomeScreen(project: Project): Boolean =
        asked {
            val provider = Class.forName("com.intellij.openapi.wm.ex.WelcomeScreenProjectProvider")
            val companion = provider.getField("Companion").get(null)
            companion.javaClass.getMethod("isWelcomeScreenProject", Project::class.java).invoke(companion, project)
        }

    /** Returns the answer to [question], or false if the member is missing. */
    private fun asked(question: () -> Any?): Boolean =
        try {
            question() == true
        } catch (_: ReflectiveOperationException) {
            false
        } catch (_: LinkageError) {
            false
        }
}
