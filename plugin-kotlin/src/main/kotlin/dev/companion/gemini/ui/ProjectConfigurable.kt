// Shows the settings page for one project, below the page for all projects.

package dev.companion.gemini.ui

import com.intellij.openapi.options.SearchableConfigurable
import com.intellij.openapi.project.Project
import com.intellij.util.ui.FormBuilder
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.project.ProjectSettings
import javax.swing.JCheckBox
import javax.swing.JComponent
import javax.swing.JPanel

/** EDT. */
class ProjectConfigurable(private val project: Project) : SearchableConfigurable {
    private class Box(
        val box: JCheckBox,
        val get: () -> Boolean,
        val set: (Boolean) -> Unit,
    )

    private var boxes = emptyList<Box>()

    override fun getId(): String = ID

    override fun getDisplayName(): String = message("settings.project.name")

    override fun createComponent(): JComponent {
        val form = FormBuilder.createFormBuilder()
        boxes = listOf(
            Box(
                SettingsPage.addCheckBox(form, "settings.project.hide"),
                { !ProjectSettings.isContextShared(project) },
                { ProjectSettings.setContextShared(project, !it) },
            ),
            Box(
                SettingsPage.addCheckBox(form, "settings.project.review"),
                { ProjectSettings.isAllReviewed(project) },
                { ProjectSettings.setAllReviewed(project, it) },
            ),
        )
        return form.addComponentFillVertically(JPanel(), 0).panel
    }

    override fun isModified(): Boolean = boxes.any { it.box.isSelected != it.get() }

    override fun apply() = boxes.forEach { it.set(it.box.isSelected) }

    override fun reset() = boxes.forEach { it.box.isSelected = it.get() }

    override fun disposeUIResources() {
        boxes = emptyList()
    }

    companion object {
        /** The same id as in companion.xml. */
        const val ID = "dev.companion.gemini.settings.project"
    }
}
