// Alerts a user who looks at another window.

package dev.companion.gemini.review

import com.intellij.ide.impl.ProjectUtil
import com.intellij.notification.Notification
import com.intellij.notification.NotificationType
import com.intellij.openapi.Disposable
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.project.ProjectManager
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.util.SystemInfo
import com.intellij.ui.AppIcon
import com.intellij.ui.SystemNotifications
import com.intellij.xml.util.XmlStringUtil
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.platform.hasActiveWindow
import dev.companion.gemini.platform.loggingFailure
import dev.companion.gemini.platform.notice
import dev.companion.gemini.platform.offerOnce
import java.awt.KeyboardFocusManager
import java.beans.PropertyChangeListener

/** The alerts outside the project's own windows. EDT. */
internal interface Alerts {
    /** Whether the user looks at none of the project's windows. */
    val isInBackground: Boolean

    fun show(title: String, text: String)

    /** Calls [returned] when the user may have come back to the project, until [parent] is disposed. */
    fun onReturn(parent: Disposable, returned: () -> Unit)

    /**
     * Alerts by the operating system. It does so only while the whole IDE is in the background, and if the user has not
     * turned that off; in the window of another project, the alert is a balloon.
     */
    class OfPlatform(private val project: Project) : Alerts {
        /** The alert in the window of another project. A later one takes its place. */
        private var elsewhere: Notification? = null

        override val isInBackground get() = !isActive(project)

        /** An alert that fails does not fail the proposal. */
        override fun show(title: String, text: String) =
            loggingFailure("the user was not notified") {
                val other = ProjectManager.getInstance().openProjects.find { it != project && isActive(it) }
                if (other == null) {
                    SystemNotifications.getInstance().notify("Companion for Gemini CLI", title, forSystem(text))
                    AppIcon.getInstance().requestAttention(project, false)
                } else {
                    showIn(other, text)
                }
            }

        /** Ends with the project: it would keep a closed one in memory, and lead to no window. */
        fun showIn(other: Project, text: String) {
            val alert = notice(text, NotificationType.INFORMATION)
                .setTitle(message("notification.title.project", XmlStringUtil.escapeString(project.name)))
                .offerOnce(message("notification.project.show")) { ProjectUtil.focusProjectWindow(project, false) }
            if (elsewhere == null) Disposer.register(project) { elsewhere?.expire() }
            elsewhere?.expire()
            elsewhere = alert
            alert.notify(other)
        }

        override fun onReturn(parent: Disposable, returned: () -> Unit) {
            val windows = KeyboardFocusManager.getCurrentKeyboardFocusManager()
            val listener = PropertyChangeListener { if (!isInBackground) returned() }
            windows.addPropertyChangeListener(ACTIVE_WINDOW, listener)
            Disposer.register(parent) { windows.removePropertyChangeListener(ACTIVE_WINDOW, listener) }
        }

        companion object {
            private const val ACTIVE_WINDOW = "activeWindow"

            /** A desktop of Linux reads markup in [text], which may have a name that a model chose. */
            fun forSystem(text: String, isLinux: Boolean = SystemInfo.isLinux): String =
                if (isLinux) text.replace("&", "&amp;").replace("<", "&lt;") else text

            private fun isActive(project: Project) =
                ApplicationManager.getApplication().isActive && project.hasActiveWindow
        }
    }
}
