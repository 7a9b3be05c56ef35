// Alerts the user by the operating system when a proposal arrives while the IDE is in the background.

package dev.companion.gemini.review

import com.intellij.openapi.Disposable
import com.intellij.openapi.application.ApplicationActivationListener
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.diagnostic.Logger
import com.intellij.openapi.project.Project
import com.intellij.openapi.wm.IdeFrame
import com.intellij.ui.AppIcon
import com.intellij.ui.SystemNotifications
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.assertEdt

/** The alerts of the operating system. */
internal interface SystemAlerts {
    /** Whether no window of the IDE is active. */
    val isInBackground: Boolean

    fun show(title: String, text: String)

    /**
     * The platform's alerts. Both calls do nothing if the user has turned alerts off in the
     * settings or the registry.
     */
    class OfPlatform(private val project: Project) : SystemAlerts {
        override val isInBackground get() = !ApplicationManager.getApplication().isActive

        /** An alert that fails does not fail the proposal. */
        @Suppress("TooGenericExceptionCaught")
        override fun show(title: String, text: String) {
            try {
                SystemNotifications.getInstance().notify("Companion for Gemini CLI", title, text)
                AppIcon.getInstance().requestAttention(project, false)
            } catch (e: Exception) {
                LOG.warn("the operating system was not notified", e)
            } catch (e: LinkageError) {
                LOG.warn(CompanionBundle.missing(e))
            }
        }

        private companion object {
            val LOG = Logger.getInstance("#dev.companion.gemini")
        }
    }
}

/** Shows one alert for all proposals that arrive until the user returns or all are decided. For the EDT. */
internal class BackgroundAlert(
    private val alerts: SystemAlerts,
    parent: Disposable,
) {
    private var isShown = false

    init {
        val listener = object : ApplicationActivationListener {
            override fun applicationActivated(ideFrame: IdeFrame) {
                isShown = false
            }
        }
        val bus = ApplicationManager.getApplication().messageBus
        bus.connect(parent).subscribe(ApplicationActivationListener.TOPIC, listener)
    }

    /** The text contains the tab's path, and nothing of the content. */
    fun proposalArrived(proposal: Proposal) {
        assertEdt()
        if (isShown || !alerts.isInBackground) return
        isShown = true
        alerts.show(CompanionBundle.message("notification.title"), proposal.offer)
    }

    fun allDecided() {
        assertEdt()
        isShown = false
    }
}
