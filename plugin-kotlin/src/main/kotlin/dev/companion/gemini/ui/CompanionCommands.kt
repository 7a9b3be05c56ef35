// Owns what actions, notifications and the status popup let the user do.

package dev.companion.gemini.ui

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.ModalityState
import com.intellij.openapi.ide.CopyPasteManager
import com.intellij.openapi.options.ShowSettingsUtil
import com.intellij.openapi.project.Project
import com.intellij.openapi.wm.StatusBar
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.project.CompanionService
import dev.companion.gemini.project.CompanionSettings
import dev.companion.gemini.project.CompanionState
import dev.companion.gemini.terminal.CliTerminal
import java.awt.datatransfer.StringSelection

/** EDT. */
internal object CompanionCommands {
    fun runCli(project: Project) {
        CliTerminal.find()?.run(project, CompanionSettings.getInstance().values.cliCommand)
    }

    fun restart(project: Project) = CompanionService.getInstance(project).restart()

    /** A server that is about to start needs no other, and without one there is nothing to restart. */
    fun canRestart(project: Project): Boolean {
        val state = CompanionService.getInstance(project).state
        return state is CompanionState.Running || state is CompanionState.Failed
    }

    /** They are on the clipboard some seconds later, which the status bar tells. */
    fun copyDiagnostics(project: Project) {
        StatusBar.Info.set(message("status.diagnostics.gathering"), project)
        val application = ApplicationManager.getApplication()
        application.executeOnPooledThread {
            val text = Diagnostics.of(project)
            val copy = Runnable {
                CopyPasteManager.getInstance().setContents(StringSelection(text))
                if (!project.isDisposed) StatusBar.Info.set(message("status.diagnostics.copied"), project)
            }
            application.invokeLater(copy, ModalityState.any())
        }
    }

    fun openSettings(project: Project?) =
        ShowSettingsUtil.getInstance().showSettingsDialog(project, CompanionConfigurable::class.java)
}
