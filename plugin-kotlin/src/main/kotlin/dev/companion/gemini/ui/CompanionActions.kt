// Defines the actions of the menu Tools | Companion for Gemini CLI.

package dev.companion.gemini.ui

import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.project.Project
import dev.companion.gemini.platform.CompanionAction
import dev.companion.gemini.project.CompanionService
import dev.companion.gemini.terminal.CliTerminal

class RunCliAction : ProjectAction() {
    override fun update(e: AnActionEvent) {
        super.update(e)
        e.presentation.isVisible = CliTerminal.find() != null
    }

    override fun perform(project: Project) = CompanionCommands.runCli(project)
}

/** Opens the popup of the status widget by keyboard. */
class ShowStatusAction : ProjectAction() {
    override fun perform(project: Project) = CompanionStatusWidget.showPopup(project)
}

class CopyHealthReportAction : ProjectAction() {
    override fun perform(project: Project) = CompanionCommands.copyHealthReport(project)
}

class RestartServerAction : ProjectAction() {
    override fun canPerform(project: Project) = CompanionCommands.canRestart(project)

    override fun perform(project: Project) = CompanionService.getInstance(project).restart()
}

class OpenSettingsAction : CompanionAction() {
    override fun actionPerformed(e: AnActionEvent) = CompanionCommands.openSettings(e.project)
}

/** An action on an open project. */
abstract class ProjectAction : CompanionAction() {
    protected open fun canPerform(project: Project): Boolean = true

    protected abstract fun perform(project: Project)

    override fun update(e: AnActionEvent) {
        val project = e.project
        e.presentation.isEnabled = project != null && !project.isDisposed && canPerform(project)
    }

    override fun actionPerformed(e: AnActionEvent) {
        e.project?.let(::perform)
    }
}
