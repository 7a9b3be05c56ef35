// Calls the platform of 2018.3 where it differs from today's.

package dev.companion.gemini.platform

import com.intellij.ProjectTopics
import com.intellij.history.LocalHistory
import com.intellij.notification.NotificationDisplayType
import com.intellij.notification.NotificationGroup
import com.intellij.openapi.Disposable
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.DataContext
import com.intellij.openapi.actionSystem.ex.AnActionListener
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.ModalityState
import com.intellij.openapi.components.ServiceManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.roots.ModuleRootListener
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.ui.components.labels.LinkLabel
import com.intellij.util.messages.Topic
import javax.swing.JComponent

object Platform {
    private val notifications by lazy { NotificationGroup.balloonGroup("Companion for Gemini CLI") }

    private val stickyNotifications by lazy {
        NotificationGroup("Companion for Gemini CLI: proposals", NotificationDisplayType.STICKY_BALLOON, true)
    }

    /** Notifies when a project's roots have changed. */
    val rootsTopic: Topic<ModuleRootListener> get() = ProjectTopics.PROJECT_ROOTS

    /** The state in which no dialog is open. */
    val nonModal: ModalityState get() = ModalityState.NON_MODAL

    fun <T : Any> service(type: Class<T>): T = ServiceManager.getService(type)

    fun <T : Any> service(project: Project, type: Class<T>): T = ServiceManager.getService(project, type)

    fun notificationGroup(): NotificationGroup = notifications

    /** The group of notifications that stay until the user has handled them. */
    fun stickyNotificationGroup(): NotificationGroup = stickyNotifications

    /** Returns null, because this platform has no trusted projects. */
    @Suppress("UNUSED_PARAMETER", "FunctionOnlyReturningConstant")
    fun isTrusted(project: Project): Boolean? = null

    /** Calls [changed] on any thread when the user trusts a project, until [parent] is disposed. */
    @Suppress("UNUSED_PARAMETER")
    fun onTrustChanged(project: Project, parent: Disposable, changed: () -> Unit) = Unit

    /** Does nothing, because there are no preview tabs. */
    @Suppress("UNUSED_PARAMETER")
    fun forbidPreview(file: VirtualFile) = Unit

    /** Returns a link that [command] runs for, by mouse and keyboard. Its text is never HTML, because it may be a path. */
    fun link(text: String, command: () -> Unit): JComponent {
        val link = LinkLabel.create("", command)
        link.putClientProperty("html.disable", true)
        link.text = text
        return KeyboardAccess.add(link, command)
    }

    /** Adds a label that the user sees in the Local History. */
    fun labelHistory(project: Project, name: String) {
        LocalHistory.getInstance().putSystemLabel(project, name)
    }

    /** Returns [text] as a dialog message. The dialog reads only messages with a leading tag as HTML. */
    fun dialogMessage(text: String): String = text

    /** Calls [before] and [after] around each action that the user performs, until [parent] is disposed. EDT. */
    fun onAction(parent: Disposable, before: (AnAction, AnActionEvent) -> Unit, after: () -> Unit) {
        val listener = object : AnActionListener {
            override fun beforeActionPerformed(action: AnAction, context: DataContext, event: AnActionEvent) =
                before(action, event)

            override fun afterActionPerformed(action: AnAction, context: DataContext, event: AnActionEvent) = after()
        }
        ApplicationManager.getApplication().messageBus.connect(parent).subscribe(AnActionListener.TOPIC, listener)
    }
}
