// Shows the settings page.

package dev.companion.gemini.ui

import com.intellij.openapi.options.ConfigurationException
import com.intellij.openapi.options.SearchableConfigurable
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
import dev.companion.gemini.core.Client
import dev.companion.gemini.core.LogLevel
import dev.companion.gemini.project.CompanionSettings
import dev.companion.gemini.project.ServerLaunch
import dev.companion.gemini.project.TrustSetting
import javax.swing.Box
import javax.swing.JComponent
import javax.swing.JPanel

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

/** The components of the page, with their values. */
internal class SettingsPage {
    val context = checkBox("settings.context")
    val review = checkBox("settings.review")
    val diagnostics = checkBox("settings.diagnostics")
    val saveFiles = checkBox("settings.save")
    val notifyCli = checkBox("settings.notify")
    val worktrees = checkBox("settings.worktrees")
    val clients = Client.entries.associateWith { checkBox("settings.clients.${it.name.lowercase()}") }
    val trust = ComboBox(TrustSetting.entries.map { message("settings.trust.$it") }.toTypedArray())
    val bodyLimit = JBTextField(NUMBER_COLUMNS)
    val logLevel = ComboBox(LogLevel.entries.map { message("settings.log.$it") }.toTypedArray())
    val command = JBTextField(TEXT_COLUMNS)
    val listen = JBTextField(TEXT_COLUMNS)
    val hosts = JBTextField(TEXT_COLUMNS)
    val panel: JPanel = FormBuilder
        .createFormBuilder()
        .group("settings.group.cli", 0)
        .addComponent(context)
        .addComponent(explanation("settings.context.explanation", CHECK_BOX_INDENT), 0)
        .addComponent(review)
        .addComponent(explanation("settings.review.explanation", CHECK_BOX_INDENT), 0)
        .addComponent(diagnostics)
        .addComponent(explanation("settings.diagnostics.explanation", CHECK_BOX_INDENT), 0)
        .addComponent(saveFiles)
        .addComponent(explanation("settings.save.explanation", CHECK_BOX_INDENT), 0)
        .addComponent(notifyCli)
        .addComponent(explanation("settings.notify.explanation", CHECK_BOX_INDENT), 0)
        .addComponent(worktrees)
        .addComponent(explanation("settings.worktrees.explanation", CHECK_BOX_INDENT), 0)
        .addLabeledComponent(message("settings.clients"), inRow(clients.values))
        .addComponentToRightColumn(explanation("settings.clients.explanation"), 0)
        .addLabeledComponent(message("settings.trust"), trust)
        .addComponentToRightColumn(explanation("settings.trust.explanation"), 0)
        .addLabeledComponent(message("settings.command"), command)
        .addComponentToRightColumn(explanation("settings.command.explanation"), 0)
        .group("settings.group.server", GROUP_GAP)
        .addLabeledComponent(message("settings.limit"), bodyLimit)
        .addComponentToRightColumn(explanation("settings.limit.explanation"), 0)
        .addLabeledComponent(message("settings.listen"), listen)
        .addComponentToRightColumn(explanation("settings.listen.explanation"), 0)
        .addLabeledComponent(message("settings.hosts"), hosts)
        .addComponentToRightColumn(explanation("settings.hosts.explanation"), 0)
        .addLabeledComponent(message("settings.log"), logLevel)
        .addComponentToRightColumn(explanation("settings.log.explanation"), 0)
        .setFormLeftIndent(0)
        .addComponent(explanation("settings.restart.explanation", 0), GROUP_GAP)
        .addComponentFillVertically(JPanel(), 0)
        .panel

    fun show(values: CompanionSettings.Values) {
        context.isSelected = values.context
        review.isSelected = values.review
        diagnostics.isSelected = values.diagnostics
        saveFiles.isSelected = values.saveFiles
        notifyCli.isSelected = values.notifyCli
        worktrees.isSelected = values.worktrees
        clients.forEach { (client, box) -> box.isSelected = client in values.clients() }
        trust.selectedIndex = values.trust.ordinal
        bodyLimit.text = values.bodyLimitMegabytes.toString()
        logLevel.selectedIndex = values.logLevel.ordinal
        command.text = values.cliCommand
        listen.text = values.listenAddresses
        hosts.text = values.allowedHosts
    }

    /** Compares the fields' values, even invalid ones. */
    fun isModified(values: CompanionSettings.Values): Boolean =
        values != chosen(values.bodyLimitMegabytes) || bodyLimit.text.trim() != values.bodyLimitMegabytes.toString()

    /** @throws ConfigurationException with the problem, for the user */
    fun values(): CompanionSettings.Values {
        val limits = CompanionSettings.BODY_LIMITS
        val limit = bodyLimit.text.trim().toIntOrNull()?.takeIf { it in limits }
            ?: throw ConfigurationException(message("settings.limit.error", limits.first, limits.last))
        if (clients.values.none { it.isSelected }) throw ConfigurationException(message("settings.clients.error"))
        if (command.text.isBlank()) throw ConfigurationException(message("settings.command.error"))
        ServerLaunch
            .addressProblem(
                listen.text,
            )?.let { throw ConfigurationException(message("settings.listen.error", it)) }
        ServerLaunch.hostProblem(hosts.text)?.let { throw ConfigurationException(message("settings.hosts.error", it)) }
        return chosen(limit)
    }

    private fun chosen(limit: Int) =
        CompanionSettings.Values(
            context = context.isSelected,
            review = review.isSelected,
            diagnostics = diagnostics.isSelected,
            gemini = clients.getValue(Client.GEMINI).isSelected,
            qwen = clients.getValue(Client.QWEN).isSelected,
            trust = TrustSetting.entries[trust.selectedIndex],
            bodyLimitMegabytes = limit,
            logLevel = LogLevel.entries[logLevel.selectedIndex],
            cliCommand = command.text.trim(),
            listenAddresses = listen.text.trim(),
            allowedHosts = hosts.text.trim(),
            saveFiles = saveFiles.isSelected,
            notifyCli = notifyCli.isSelected,
            worktrees = worktrees.isSelected,
        )

    companion object {
        const val CHECK_BOX_INDENT = 24
        private const val NUMBER_COLUMNS = 6
        private const val TEXT_COLUMNS = 30
        private const val GROUP_GAP = 12
        private const val GROUP_INDENT = 20
        private const val FIELD_INDENT = 2
        private const val BOX_GAP = 16
        private const val EXPLANATION_GAP = 6
        private const val EXPLANATION_WIDTH = 480

        /** Adds a title for the following fields. */
        private fun FormBuilder.group(title: String, gap: Int): FormBuilder =
            setFormLeftIndent(0)
                .addComponent(TitledSeparator(message(title)), gap)
                .setFormLeftIndent(GROUP_INDENT)

        private fun inRow(boxes: Collection<JComponent>): JComponent =
            Box.createHorizontalBox().apply {
                boxes.forEach {
                    add(it)
                    add(Box.createHorizontalStrut(JBUI.scale(BOX_GAP)))
                }
            }

        fun checkBox(key: String) = JBCheckBox(message(key)).also(DialogUtil::registerMnemonic)

        /** Returns a small grey text, for the line below the explained field. */
        fun explanation(key: String, indent: Int = FIELD_INDENT) =
            JBLabel(
                "<html><div width=${JBUI.scale(EXPLANATION_WIDTH)}>${message(key)}</div></html>",
                UIUtil.ComponentStyle.SMALL,
            ).apply {
                foreground = UIUtil.getContextHelpForeground()
                border = JBUI.Borders.empty(0, indent, EXPLANATION_GAP, 0)
            }
    }
}
