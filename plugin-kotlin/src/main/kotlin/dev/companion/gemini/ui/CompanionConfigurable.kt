// Shows the settings pages: for all projects, and for one.

package dev.companion.gemini.ui

import com.intellij.openapi.options.ConfigurationException
import com.intellij.openapi.options.SearchableConfigurable
import com.intellij.openapi.project.Project
import com.intellij.openapi.ui.ComboBox
import com.intellij.ui.TitledSeparator
import com.intellij.ui.components.JBCheckBox
import com.intellij.ui.components.JBLabel
import com.intellij.ui.components.JBTextField
import com.intellij.util.ui.DialogUtil
import com.intellij.util.ui.FormBuilder
import com.intellij.util.ui.JBUI
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.LogLevel
import dev.companion.gemini.core.ServerSettings
import dev.companion.gemini.project.CompanionSettings
import dev.companion.gemini.project.CompanionSettings.Values
import dev.companion.gemini.project.ProjectSetting
import dev.companion.gemini.project.ServerLaunch
import dev.companion.gemini.project.TrustSetting
import javax.swing.Box
import javax.swing.JCheckBox
import javax.swing.JComponent
import javax.swing.JPanel
import kotlin.reflect.KMutableProperty1

/** EDT. */
class CompanionConfigurable : SearchableConfigurable {
    private var page: SettingsPage? = null

    override fun getId(): String = ID

    override fun getDisplayName(): String = message("settings.name")

    override fun createComponent(): JComponent = SettingsPage().also { page = it }.panel

    override fun isModified(): Boolean = page?.isModified(CompanionSettings.getInstance().values) ?: false

    override fun apply() {
        page?.let { CompanionSettings.getInstance().set(it.values()) }
    }

    override fun reset() {
        page?.show(CompanionSettings.getInstance().values)
    }

    override fun disposeUIResources() {
        page = null
    }

    companion object {
        /** The same id as in companion.xml. */
        const val ID = "dev.companion.gemini.settings"
    }
}

/** The page for one project, below the page for all projects. EDT. */
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

/** The rows of the page, each bound to a value. */
internal class SettingsPage {
    private class Binding<T>(
        private val value: KMutableProperty1<Values, T>,
        private val get: () -> T,
        private val set: (T) -> Unit,
    ) {
        fun show(values: Values) = set(value.get(values))

        fun store(values: Values) = value.set(values, get())
    }

    private val form = FormBuilder.createFormBuilder()
    private val bindings = mutableListOf<Binding<*>>()
    val panel: JPanel

    init {
        group("settings.group.cli", 0)
        check("settings.context", Values::context)
        check("settings.git", Values::gitIgnoredPrivate)
        check("settings.review", Values::review)
        check("settings.diagnostics", Values::diagnostics)
        check("settings.save", Values::saveFiles)
        check("settings.notify", Values::notifyCli)
        check("settings.worktrees", Values::worktrees)
        checks("settings.clients", Values::gemini, Values::qwen)
        choice("settings.trust", Values::trust, TrustSetting.entries)
        text("settings.command", Values::cliCommand)
        group("settings.group.connection", GROUP_GAP)
        number("settings.limit", Values::bodyLimitMegabytes)
        text("settings.listen", Values::listenAddresses)
        text("settings.hosts", Values::allowedHosts)
        choice("settings.log", Values::logLevel, LogLevel.entries)
        form.setFormLeftIndent(0).addComponent(explanation("settings.restart.explanation", 0), GROUP_GAP)
        panel = form.addComponentFillVertically(JPanel(), 0).panel
    }

    fun show(values: Values) = bindings.forEach { it.show(values) }

    /** Compares the fields' values, even invalid ones. */
    fun isModified(values: Values): Boolean = values != chosen()

    /** @throws ConfigurationException with the problem, for the user */
    fun values(): Values {
        val values = chosen()
        problem(values)?.let { throw ConfigurationException(it) }
        return values
    }

    private fun chosen() = Values().also { values -> bindings.forEach { it.store(values) } }

    private fun problem(values: Values): String? {
        val limits = CompanionSettings.BODY_LIMITS
        if (values.bodyLimitMegabytes !in limits) return message("settings.limit.error", limits.first, limits.last)
        if (values.clients().isEmpty()) return message("settings.clients.error")
        if (values.cliCommand.isEmpty()) return message("settings.command.error")
        val (listen, hosts) = values.server().run { Pair(listen, allowedHosts) }
        ServerLaunch.problem(ServerSettings(listen = listen))?.let { return message("settings.listen.error", it) }
        return ServerLaunch.problem(ServerSettings(allowedHosts = hosts))?.let { message("settings.hosts.error", it) }
    }

    /** Adds a title for the following rows. */
    private fun group(title: String, gap: Int) {
        form.setFormLeftIndent(0).addComponent(TitledSeparator(message(title)), gap).setFormLeftIndent(GROUP_INDENT)
    }

    private fun check(key: String, value: KMutableProperty1<Values, Boolean>) = bind(value, addCheckBox(form, key))

    /** Adds check boxes in one row. Each has the text `key.name`, with the name of its value. */
    private fun checks(key: String, vararg values: KMutableProperty1<Values, Boolean>) {
        val boxes = Box.createHorizontalBox()
        for (value in values) {
            val box = checkBox("$key.${value.name}")
            boxes.add(box)
            boxes.add(Box.createHorizontalStrut(JBUI.scale(BOX_GAP)))
            bind(value, box)
        }
        labeled(key, boxes)
    }

    /** Adds a list to choose one of [entries] from. Each has the text `key.ENTRY`. */
    private fun <E : Enum<E>> choice(key: String, value: KMutableProperty1<Values, E>, entries: List<E>) {
        val box = ComboBox(entries.map { message("$key.$it") }.toTypedArray())
        labeled(key, box)
        bindings += Binding(value, { entries[box.selectedIndex] }, { box.selectedIndex = it.ordinal })
    }

    private fun text(key: String, value: KMutableProperty1<Values, String>) {
        val field = JBTextField(TEXT_COLUMNS)
        labeled(key, field)
        bindings += Binding(value, { field.text.trim() }, field::setText)
    }

    /** Adds a field for a positive number. Text that is not a number counts as 0, which is out of range. */
    private fun number(key: String, value: KMutableProperty1<Values, Int>) {
        val field = JBTextField(NUMBER_COLUMNS)
        labeled(key, field)
        bindings += Binding(value, { field.text.trim().toIntOrNull() ?: 0 }, { field.text = it.toString() })
    }

    private fun bind(value: KMutableProperty1<Values, Boolean>, box: JBCheckBox) {
        bindings += Binding(value, { box.isSelected }, { box.isSelected = it })
    }

    private fun labeled(key: String, component: JComponent) {
        form.addLabeledComponent(message(key), component)
        form.addComponentToRightColumn(explanation("$key.explanation", FIELD_INDENT), 0)
    }

    companion object {
        private const val NUMBER_COLUMNS = 6
        private const val TEXT_COLUMNS = 30
        private const val GROUP_GAP = 12
        private const val GROUP_INDENT = 20
        private const val CHECK_BOX_INDENT = 24
        private const val FIELD_INDENT = 2
        private const val BOX_GAP = 16
        private const val EXPLANATION_GAP = 6
        private const val EXPLANATION_WIDTH = 480

        /** Adds a check box and its explanation. */
        fun addCheckBox(form: FormBuilder, key: String): JBCheckBox {
            val box = checkBox(key)
            form.addComponent(box).addComponent(explanation("$key.explanation", CHECK_BOX_INDENT), 0)
            return box
        }

        private fun checkBox(key: String) = JBCheckBox(message(key)).also(DialogUtil::registerMnemonic)

        /** Returns a small grey text, for the line below the explained field. */
        private fun explanation(key: String, indent: Int) =
            JBLabel(
                "<html><div width=${JBUI.scale(EXPLANATION_WIDTH)}>${message(key)}</div></html>",
                UIUtil.ComponentStyle.SMALL,
            ).apply {
                foreground = UIUtil.getContextHelpForeground()
                border = JBUI.Borders.empty(0, indent, EXPLANATION_GAP, 0)
            }
    }
}
