// Carries out the user's actions, including those of notifications and the status popup.

package dev.companion.gemini.ui

import com.intellij.openapi.options.ShowSettingsUtil
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Key
import com.intellij.openapi.wm.StatusBar
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.copyToClipboard
import dev.companion.gemini.platform.inBackground
import dev.companion.gemini.platform.later
import dev.companion.gemini.project.CompanionService
import dev.companion.gemini.project.CompanionSettings
import dev.companion.gemini.project.CompanionState
import dev.companion.gemini.terminal.CliProgram
import dev.companion.gemini.terminal.CliTabs
import dev.companion.gemini.terminal.CliTerminal
import dev.companion.gemini.terminal.PromptText

/** EDT. */
internal object CompanionCommands {
    /** Set while the plugin looks for the CLI that the user wants to run. */
    private val LOOKING_FOR_CLI = Key.create<Boolean>("dev.companion.gemini.lookingForCli")

    /**
     * Shows the terminal with a running CLI that this plugin opened. Otherwise starts a CLI, or explains how to install
     * it.
     */
    fun runCli(project: Project) {
        assertEdt()
        val terminal = CliTerminal.find() ?: return
        namingWhatIsMissing(project) {
            CliTabs.findRunning(project, orStarts = true) { tab ->
                if (tab == null) runCli(project, terminal) else tab.show()
            }
        }
    }

    private fun runCli(project: Project, terminal: CliTerminal) {
        // Otherwise a second press of the key would start a second CLI.
        if (project.getUserData(LOOKING_FOR_CLI) == true) return
        project.putUserData(LOOKING_FOR_CLI, true)
        val command = CompanionSettings.getInstance().values.cliCommand
        val run = {
            namingWhatIsMissing(project) {
                terminal.run(project, command)?.let(CompanionNotifications.getInstance(project)::confirm)
            }
        }
        inBackground {
            val isMissing = CliProgram.isMissing(command, project.basePath)
            project.later {
                project.putUserData(LOOKING_FOR_CLI, null)
                if (isMissing) CompanionNotifications.getInstance(project).sayMissing(run) else run()
            }
        }
    }

    /**
     * Writes [text] into the prompt of a CLI that runs in a terminal of this plugin. Otherwise copies [text] to the
     * clipboard: the terminals of other CLIs are unknown, and so is the time when the prompt of a starting CLI appears.
     */
    fun addToPrompt(project: Project, text: String) {
        assertEdt()
        namingWhatIsMissing(project) {
            CliTabs.findRunning(project, orStarts = false) { tab ->
                if (tab == null) {
                    copyToClipboard(text)
                    CompanionNotifications.getInstance(project).sayCopied(text.trim())
                } else {
                    tab.show()
                    tab.send(PromptText.pasted(text))
                }
            }
        }
    }

    /** Runs [work], and reports a missing member of the terminal's API, which changes between IDE versions. */
    private fun namingWhatIsMissing(project: Project, work: () -> Unit?) {
        try {
            work()
        } catch (e: LinkageError) {
            CompanionNotifications.getInstance(project).warn(CompanionBundle.missing(e))
            throw e
        }
    }

    /** Returns whether a server can be restarted. That is false while one is starting, or if none runs. */
    fun canRestart(project: Project): Boolean {
        val state = CompanionService.getInstance(project).state
        return state is CompanionState.Running || state is CompanionState.Failed
    }

    /** Copies the report to the clipboard after some seconds, and shows a balloon. */
    fun copyHealthReport(project: Project) {
        assertEdt()
        StatusBar.Info.set(message("status.healthReport.gathering"), project)
        inBackground {
            val text = HealthReport.of(project)
            project.later {
                copyToClipboard(text)
                StatusBar.Info.set(null, project)
                CompanionNotifications.getInstance(project).confirm(message("status.healthReport.copied"))
            }
        }
    }

    fun openSettings(project: Project?) =
        ShowSettingsUtil.getInstance().showSettingsDialog(project, CompanionConfigurable::class.java)
}
