// Asks the platform by name for members that are internal, or missing in 2024.2.

package dev.companion.gemini.project

import com.intellij.openapi.project.Project

internal object IdeMode {
    private const val CLIENT = "JetBrainsClient"

    /** Whether the user's windows and the project are in two processes, as in Remote Development. */
    fun isRemote(): Boolean =
        System.getProperty("idea.platform.prefix") == CLIENT ||
            asked { Class.forName("com.intellij.idea.AppMode").getMethod("isRemoteDevHost").invoke(null) }

    /**
     * Whether it is a welcome screen in the form of a project. In PyCharm's, users also write
     * files.
     */
    fun isWelcomeScreen(project: Project): Boolean =
        asked {
            val provider = Class.forName("com.intellij.openapi.wm.ex.WelcomeScreenProjectProvider")
            val companion = provider.getField("Companion").get(null)
            companion.javaClass.getMethod("isWelcomeScreenProject", Project::class.java).invoke(companion, project)
        }

    /** A missing member means false. */
    private fun asked(question: () -> Any?): Boolean =
        try {
            question() == true
        } catch (_: ReflectiveOperationException) {
            false
        } catch (_: LinkageError) {
            false
        }
}
