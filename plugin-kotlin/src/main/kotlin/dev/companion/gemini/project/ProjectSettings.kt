// Keeps the settings of one project in its workspace file, which is not shared.

package dev.companion.gemini.project

import com.intellij.ide.util.PropertiesComponent
import com.intellij.openapi.project.Project
import com.intellij.util.messages.Topic
import dev.companion.gemini.core.assertEdt

object ProjectSettings {
    private const val SILENT = "dev.companion.gemini.silent"

    /** On the project's message bus. */
    val TOPIC: Topic<CompanionSettings.Listener> =
        Topic.create("Settings of the companion for a project", CompanionSettings.Listener::class.java)

    /** Returns whether the project's CLIs receive no context and no diagnostics. */
    fun isSilent(project: Project): Boolean = PropertiesComponent.getInstance(project).getBoolean(SILENT)

    /** EDT. */
    fun setSilent(project: Project, silent: Boolean) {
        assertEdt()
        if (silent == isSilent(project)) return
        PropertiesComponent.getInstance(project).setValue(SILENT, silent)
        project.messageBus.syncPublisher(TOPIC).settingsChanged()
    }
}
