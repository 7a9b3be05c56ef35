// Calls today's platform where it differs from the platform of 2018.3.

package dev.companion.gemini.platform

import com.intellij.history.ActivityId
import com.intellij.history.LocalHistory
import com.intellij.ide.impl.isTrusted
import com.intellij.ide.trustedProjects.TrustedProjectsListener
import com.intellij.notification.NotificationGroup
import com.intellij.notification.NotificationGroupManager
import com.intellij.openapi.Disposable
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.AnActionResult
import com.intellij.openapi.actionSystem.ex.AnActionListener
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.ModalityState
import com.intellij.openapi.project.Project
import com.intellij.openapi.roots.ModuleRootListener
import com.intellij.openapi.util.Key
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.ui.components.ActionLink
import com.intellij.util.messages.Topic
import com.intellij.xml.util.XmlStringUtil
import java.awt.event.ActionListener
import javax.swing.JComponent

object Platform {
    /** Notifies when a project's roots have changed. */
    val rootsTopic: Topic<ModuleRootListener> get() = ModuleRootListener.TOPIC

    /** The state in which no dialog is open. */
    val nonModal: ModalityState get() = ModalityState.nonModal()

    fun <T : Any> service(type: Class<T>): T = ApplicationManager.getApplication().getService(type)

    fun <T : Any> service(project: Project, type: Class<T>): T = project.getService(type)

    fun notificationGroup(): NotificationGroup =
        NotificationGroupManager.getInstance().getNotificationGroup("Companion for Gemini CLI")

    /** The group of notifications that stay until the user has handled them. */
    fun stickyNotificationGroup(): NotificationGroup =
        NotificationGroupManager.getInstance().getNotificationGroup("Companion for Gemini CLI: proposals")

    /**
     * Returns whether the user trusts the project. 2024.2 and 2024.3 lack the successor,
     * `TrustedProjects.isProjectTrusted`.
     */
    @Suppress("DEPRECATION")
    fun isTrusted(project: Project): Boolean? = project.isTrusted()

    /** Calls [changed] on any thread when the user starts or stops trusting a project, until [parent] is disposed. */
    fun onTrustChanged(project: Project, parent: Disposable, changed: () -> Unit) {
        val listener = object : TrustedProjectsListener {
            override fun onProjectTrusted(project: Project) = report(project)

            override fun onProjectUntrusted(project: Project) = report(project)

            private fun report(of: Project) {
                if (of == project) changed()
            }
        }
        val connection = ApplicationManager.getApplication().messageBus.connect(parent)
        connection.subscribe(TrustedProjectsListener.TOPIC, listener)
    }

    /** Prevents a preview tab, which the next file would replace. The key moved to another class in 2025. */
    @Suppress("UNCHECKED_CAST", "DEPRECATION")
    fun forbidPreview(file: VirtualFile) =
        (Key.findKeyByName("FORBID_PREVIEW_TAB") as Key<Boolean>?)?.let { file.putUserData(it, true) } ?: Unit

    /** Returns a link that [command] runs for, by mouse and keyboard. Its text is never HTML, because it may be a path. */
    fun link(text: String, command: () -> Unit): JComponent {
        val link = ActionLink("", ActionListener { command() })
        link.putClientProperty("html.disable", true)
        link.text = text
        return KeyboardAccess.add(link, command)
    }

    /** Adds a label that the user sees in the Local History. Its window hides system labels in 2024.2 and later. */
    fun labelHistory(project: Project, name: String) {
        LocalHistory.getInstance().putEventLabel(project, name, ActivityId("dev.companion.gemini", "before"))
    }

    /** Returns [text] as a dialog message. The dialog reads each message as HTML. */
    fun dialogMessage(text: String): String = "<html>${XmlStringUtil.escapeString(text).replace("\n", "<br>")}</html>"

    /** Calls [before] and [after] around each action that the user performs, until [parent] is disposed. EDT. */
    fun onAction(parent: Disposable, before: (AnAction, AnActionEvent) -> Unit, after: () -> Unit) {
        val listener = object : AnActionListener {
            override fun beforeActionPerformed(action: AnAction, event: AnActionEvent) = before(action, event)

            override fun afterActionPerformed(action: AnAction, event: AnActionEvent, result: AnActionResult) = after()
        }
        ApplicationManager.getApplication().messageBus.connect(parent).subscribe(AnActionListener.TOPIC, listener)
    }
}
