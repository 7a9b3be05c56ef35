// Keeps the settings of one project in its workspace file, which is not shared.

package dev.companion.gemini.project

import com.intellij.ide.util.PropertiesComponent
import com.intellij.openapi.project.Project
import com.intellij.util.messages.Topic
import dev.companion.gemini.core.assertEdt

object ProjectSettings {
    private const val HIDE_CONTEXT = "dev.companion.gemini.hide.context"
    private const val REVIEW_ALL = "dev.companion.gemini.review.all"

    /** On the project's message bus. */
    val TOPIC: Topic<CompanionSettings.Listener> =
        Topic.create("Settings of the companion for a project", CompanionSettings.Listener::class.java)

    /** Returns whether the project's CLIs receive context and diagnostics. */
    fun isContextShared(project: Project): Boolean = !PropertiesComponent.getInstance(project).getBoolean(HIDE_CONTEXT)

    /** Returns whether the user reviews each edit, even if Gemini CLI would not ask. */
    fun isAllReviewed(project: Project): Boolean = PropertiesComponent.getInstance(project).getBoolean(REVIEW_ALL)

    /** EDT. */
    fun setContextShared(project: Project, shared: Boolean) = set(project, HIDE_CONTEXT, !shared)

    /** EDT. */
    fun setAllReviewed(project: Project, all: Boolean) = set(project, REVIEW_ALL, all)

    private fun set(project: Project, name: String, value: Boolean) {
        assertEdt()
        val properties = PropertiesComponent.getInstance(project)
        if (value == properties.getBoolean(name)) return
        properties.setValue(name, value)
        project.messageBus.syncPublisher(TOPIC).settingsChanged()
    }
}
