// Shows the settings page for one project, below the page for all projects.

package dev.companion.gemini.ui

import com.intellij.openapi.options.SearchableConfigurable
import com.intellij.openapi.project.Project
import com.intellij.util.ui.FormBuilder
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.project.ProjectSetting
import javax.swing.JCheckBox
import javax.swing.JComponent
import javax.swing.JPanel

/** EDT. */
class ProjectConfigurable(private val project: Project) : SearchableConfigurable {
    private var boxes = emptyMap<ProjectSetting, JCheckBox>()

    override fun getId(): String = ID

    override fun getDisplayName(): String = message("settings.project.name")

    override fun createComponent(): JComponent {
        val form = FormBuilder.createFormBuilder()
        boxes = ProjectSetting.entries.associateWith { SettingsPage.addCheckBox(form, it.text) }
        return form.addComponentFillVertically(JPanel(), 0).panel
    }

    override fun isModified(): Boolean = boxes.any { (setting, box) -> box.isSelected != setting.isOn(project) }

    override fun apply() = boxes.forEach { (setting, box) -> setting.set(project, box.isSelected) }

    override fun reset() = boxes.forEach { (setting, box) -> box.isSelected = setting.isOn(project) }

    override fun disposeUIResources() {
        boxes = emptyMap()
    }

    companion object {
        /** The same id as in companion.xml. */
        const val ID = "dev.companion.gemini.settings.project"
    }
}
