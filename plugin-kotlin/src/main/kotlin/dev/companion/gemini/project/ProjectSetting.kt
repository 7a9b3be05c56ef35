// Keeps the settings of one project in its workspace file, which is not shared.

package dev.companion.gemini.project

import com.intellij.ide.util.PropertiesComponent
import com.intellij.openapi.project.Project
import com.intellij.util.messages.Topic
import dev.companion.gemini.core.assertEdt

/** A switch that is off at first. [text] is the key of its label in the settings. */
enum class ProjectSetting(
    private val property: String,
    val text: String,
) {
    /** Whether the project's CLIs receive neither context nor diagnostics. */
    HIDE_CONTEXT("dev.companion.gemini.hide.context", "settings.project.hide"),

    /** Whether the user reviews each edit, even if Gemini CLI would not ask. */
    REVIEW_ALL("dev.companion.gemini.review.all", "settings.project.review"),
    ;

    fun isOn(project: Project): Boolean = PropertiesComponent.getInstance(project).getBoolean(property)

    /** EDT. */
    fun set(project: Project, isOn: Boolean) {
        assertEdt()
        if (isOn == isOn(project)) return
        PropertiesComponent.getInstance(project).setValue(property, isOn)
        project.messageBus.syncPublisher(TOPIC).settingsChanged()
    }

    companion object {
        /** On the project's message bus. */
        val TOPIC: Topic<CompanionSettings.Listener> =
            Topic.create("Settings of the companion for a project", CompanionSettings.Listener::class.java)
    }
}
