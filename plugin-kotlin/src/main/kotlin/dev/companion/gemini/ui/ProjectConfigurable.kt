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
    private var silent: JCheckBox? = null

    override fun getId(): String = ID

    override fun getDisplayName(): String = message("settings.project.name")

    override fun createComponent(): JComponent {
        val box = SettingsPage.checkBox("settings.project.silent").also { silent = it }
        return FormBuilder
            .createFormBuilder()
            .addComponent(box)
            .addComponent(SettingsPage.explanation(EXPLANATION, SettingsPage.CHECK_BOX_INDENT), 0)
            .addComponentFillVertically(JPanel(), 0)
            .panel
    }

    override fun isModified(): Boolean = silent?.isSelected?.let { it != ProjectSettings.isSilent(project) } ?: false

    override fun apply() {
        silent?.let { ProjectSettings.setSilent(project, it.isSelected) }
    }

    override fun reset() {
        silent?.isSelected = ProjectSettings.isSilent(project)
    }

    override fun disposeUIResources() {
        silent = null
    }

    companion object {
        /** The same id as in companion.xml. */
        const val ID = "dev.companion.gemini.settings.project"
        private const val EXPLANATION = "settings.project.silent.explanation"
    }
}
