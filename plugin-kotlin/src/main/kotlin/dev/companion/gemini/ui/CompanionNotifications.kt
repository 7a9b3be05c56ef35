// Shows notifications: problems of the server, results of actions, and one greeting.

package dev.companion.gemini.ui

import com.intellij.ide.plugins.PluginManager
import com.intellij.ide.util.PropertiesComponent
import com.intellij.notification.Notification
import com.intellij.notification.NotificationType
import com.intellij.openapi.Disposable
import com.intellij.openapi.extensions.PluginId
import com.intellij.openapi.project.Project
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.CompanionBundle.shortened
import dev.companion.gemini.core.ServerStatus
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.copyToClipboard
import dev.companion.gemini.platform.notice
import dev.companion.gemini.platform.offer
import dev.companion.gemini.platform.offerOnce
import dev.companion.gemini.project.CompanionService
import dev.companion.gemini.project.CompanionSettings
import dev.companion.gemini.project.CompanionState
import dev.companion.gemini.project.CompanionStateListener
import dev.companion.gemini.project.ProjectSetting
import dev.companion.gemini.tabs.ProposalActionIds
import dev.companion.gemini.target.ShownPath
import dev.companion.gemini.terminal.CliProgram
import dev.companion.gemini.terminal.CliTerminal
import java.util.concurrent.Future
import java.util.concurrent.TimeUnit

/** A project service, used only on the EDT. */
class CompanionNotifications(private val project: Project) : Disposable {
    /** The shown problem and its text, while it lasts. */
    private var problem: Pair<String, Notification>? = null

    /** Updates the status while a discovery file is missing. The server sends no message when it writes the file. */
    private var updates: Future<*>? = null

    init {
        project.messageBus.connect(this).subscribe(CompanionStateListener.TOPIC, CompanionStateListener(::stateChanged))
    }

    private fun stateChanged(state: CompanionState) {
        assertEdt()
        updates?.cancel(false)
        val isFileMissing = state is CompanionState.Running && state.status.discoveryFiles.any { !it.inPlace }
        updates = if (isFileMissing) updateStatus() else null
        when (state) {
            is CompanionState.Failed -> showProblem(state.message, NotificationType.ERROR)
            is CompanionState.Running -> running(state.status)
            is CompanionState.Unwanted, CompanionState.Starting -> hideProblem()
        }
    }

    private fun updateStatus(): Future<*> {
        val service = CompanionService.getInstance(project)
        val timers = AppExecutorUtil.getAppScheduledExecutorService()
        return timers.scheduleWithFixedDelay(service::updateStatus, EVERY_MILLIS, EVERY_MILLIS, TimeUnit.MILLISECONDS)
    }

    private fun running(status: ServerStatus) {
        OtherCompanion.name()?.let(::warnOnceOfOther)
        val problems =
            status.discoveryFiles.filterNot { it.inPlace }.map { message("notification.no.discovery.file", it.path) } +
                status.notListening.map { message("notification.not.listening", it) }
        if (problems.isEmpty()) hideProblem() else showProblem(problems.joinToString(" "), NotificationType.WARNING)
        if (status.clis.isNotEmpty()) greetOnce()
    }

    private fun showProblem(text: String, type: NotificationType) {
        if (problem?.first == text) return
        hideProblem()
        val notification = notice(text, type)
        notification.offer(message("status.popup.restart")) { CompanionService.getInstance(project).restart() }
        notification.offerSettings()
        notification.offer(message("status.popup.report")) { CompanionCommands.copyHealthReport(project) }
        problem = Pair(text, notification)
        notification.notify(project)
    }

    private fun hideProblem() {
        problem?.second?.expire()
        problem = null
    }

    /** Warns once of another plugin that a CLI may find in place of this one. */
    internal fun warnOnceOfOther(plugin: String) {
        if (isFirst(WARNED_OF_OTHER)) warn(message("notification.other", plugin))
    }

    /** Shows the greeting once, in three lines: which context is shared, and where edits are reviewed. */
    private fun greetOnce() {
        if (!isFirst(GREETED)) return
        val settings = CompanionSettings.getInstance().values
        val notification = notice(Greeting.review(settings), NotificationType.INFORMATION)
        notification.setTitle(Greeting.shared(settings, !ProjectSetting.HIDE_CONTEXT.isOn(project)))
        notification.offerSettings("greeting.off").notify(project)
    }

    /** Returns true once for each [key], also after a restart of the IDE. */
    private fun isFirst(key: String): Boolean {
        val kept = PropertiesComponent.getInstance()
        return !kept.getBoolean(key).also { kept.setValue(key, true) }
    }

    /** Reports that the IDE does not find the CLI. The user's shell may still find it. */
    fun sayMissing(run: () -> Unit) {
        assertEdt()
        val notification = notice(message("notification.no.cli", CliProgram.INSTALLATION), NotificationType.WARNING)
        notification.offer(message("notification.no.cli.copy")) { copyToClipboard(CliProgram.INSTALLATION) }
        notification.offerOnce(message("notification.no.cli.run"), run)
        notification.offerSettings().notify(project)
    }

    /** Reports that [text] is on the clipboard, because no terminal of the plugin runs a CLI. */
    fun sayCopied(text: String) {
        assertEdt()
        val shown = shortened(ShownPath.plain(text), LONGEST)
        val notification = notice(message("notification.copied", shown), NotificationType.INFORMATION)
        if (CliTerminal.find() != null) {
            notification.offer(message("action.Companion.RunCli.text")) { CompanionCommands.runCli(project) }
        }
        notification.notify(project)
    }

    fun confirm(text: String) = notice(text, NotificationType.INFORMATION).notify(project)

    fun warn(text: String) = notice(text, NotificationType.WARNING).notify(project)

    private fun Notification.offerSettings(key: String = "status.popup.settings") =
        offer(message(key)) { CompanionCommands.openSettings(project) }

    override fun dispose() {
        updates?.cancel(false)
        hideProblem()
    }

    companion object {
        private const val LONGEST = 80
        private const val EVERY_MILLIS = 2_000L
        private const val GREETED = "dev.companion.gemini.greeted"
        private const val WARNED_OF_OTHER = "dev.companion.gemini.warnedOfOther"

        fun getInstance(project: Project): CompanionNotifications =
            Platform.service(project, CompanionNotifications::class.java)
    }
}

/** Each text must fit into one line: a balloon hides the rest of a longer text until it is clicked. */
internal object Greeting {
    /** Describes the context that the CLI receives from a project, which may share nothing. */
    fun shared(settings: CompanionSettings.Values, isProjectShared: Boolean): String =
        when {
            !isProjectShared -> message("greeting.shared.nothing")
            settings.context && settings.diagnostics -> message("greeting.shared")
            settings.context -> message("greeting.shared.context")
            settings.diagnostics -> message("greeting.shared.problems")
            else -> message("greeting.shared.nothing")
        }

    /** Describes how users review edits. */
    fun review(settings: CompanionSettings.Values): String {
        if (!settings.review) return message("greeting.review.terminal")
        val keys = CompanionBundle.keys(ProposalActionIds.ACCEPT)
        return if (keys.isEmpty()) message("greeting.review") else message("greeting.review.keys", keys)
    }
}

/** Two companions set the same variables of a terminal. Which one a CLI finds depends on their order. */
internal object OtherCompanion {
    private val IDS = listOf("com.google.gemini.cli")

    /** Returns the name of such a plugin; null if there is none, or if it is disabled. Any thread. */
    fun name(ids: List<String> = IDS): String? {
        val installed = ids.mapNotNull { PluginManager.getPlugin(PluginId.getId(it)) }
        return installed.find { it.isEnabled }?.name
    }
}
