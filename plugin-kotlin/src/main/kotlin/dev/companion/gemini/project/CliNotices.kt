// Notifies the user that a CLI waits or has finished, unless the user looks at a terminal of the IDE.

package dev.companion.gemini.project

import com.intellij.notification.Notification
import com.intellij.notification.NotificationGroup
import com.intellij.notification.NotificationType
import com.intellij.openapi.project.Project
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.CompanionBundle.shortened
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.later
import dev.companion.gemini.platform.notice
import dev.companion.gemini.platform.offerOnce
import dev.companion.gemini.review.Alerts
import dev.companion.gemini.terminal.CliTabs
import dev.companion.gemini.terminal.CliTerminal

/** Any thread. While the IDE is in the background, the operating system also notifies, without the CLI's question. */
internal class CliNotices(
    private val project: Project,
    private val alerts: Alerts = Alerts.OfPlatform(project),
) {
    /** [core] would report the answer to a question; null for the end of a turn. */
    private class Shown(
        val notification: Notification,
        val core: CompanionCore?,
    )

    /** The last notification about each CLI session: the end of one CLI leaves the question of another. EDT. */
    private val shown = HashMap<String, Shown>()

    /** The CLI asks [question] in its terminal. */
    fun waiting(core: CompanionCore, session: String, question: String) {
        val text = shortened(question, LONGEST)
        val group = Platform.stickyNotificationGroup()
        project.later { show(session, message("cli.waiting", text), message("cli.waiting.alert"), group, core) }
    }

    /** The question does not wait for the user any more. */
    fun answered(session: String) = project.later { hide(session) }

    /** Ends the questions of servers that have ended: these would report the answers. EDT. */
    fun forgetClosed() = shown.filterValues { it.core?.isClosed == true }.keys.forEach(::hide)

    /** The CLI has answered a prompt. */
    fun finished(session: String, seconds: Long) {
        val time = if (seconds < MINUTE) {
            message("cli.finished.seconds", seconds)
        } else {
            message("cli.finished.minutes", seconds / MINUTE, seconds % MINUTE)
        }
        val text = message("cli.finished", time)
        val group = Platform.notificationGroup()
        project.later { if (seconds >= MIN_SECONDS) show(session, text, text, group) else hide(session) }
    }

    private fun hide(session: String) {
        shown.remove(session)?.notification?.expire()
    }

    private fun show(
        session: String,
        text: String,
        alert: String,
        group: NotificationGroup,
        core: CompanionCore? = null,
    ) {
        assertEdt()
        hide(session)
        if (core?.isClosed == true) return
        if (!CompanionSettings.getInstance().values.notifyCli) return
        if (!alerts.isInBackground && CliTabs.hasFocus(project)) return
        val notification = notice(text, NotificationType.INFORMATION, group)
        val hasTerminal = CliTerminal.find() != null || CliTabs.toolWindow(project) != null
        if (hasTerminal) notification.offerOnce(message("cli.terminal"), ::goToTerminal)
        shown[session] = Shown(notification, core)
        notification.notify(project)
        if (alerts.isInBackground) alerts.show(message("notification.title"), alert)
    }

    /** Shows the terminal with a CLI that this plugin started; for other CLIs, the window of the terminals. */
    private fun goToTerminal() {
        CliTabs.findRunning(project, orStarts = true) { tab ->
            if (tab == null) CliTabs.toolWindow(project)?.activate(null) else tab.show()
        }
    }

    private companion object {
        /** After a shorter turn the user still looks at the terminal. */
        const val MIN_SECONDS = 10L

        const val MINUTE = 60L

        /** The longest question in a notification. */
        const val LONGEST = 200
    }
}
