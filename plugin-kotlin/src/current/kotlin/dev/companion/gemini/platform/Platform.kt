// Owns what today's platform does in its own way.

package dev.companion.gemini.platform

import com.intellij.ide.trustedProjects.TrustedProjects
import com.intellij.ide.trustedProjects.TrustedProjectsListener
import com.intellij.notification.NotificationGroup
import com.intellij.notification.NotificationGroupManager
import com.intellij.openapi.Disposable
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.roots.ModuleRootListener
import com.intellij.util.messages.Topic

object Platform {
    /** Tells when a project's roots have changed. */
    val rootsTopic: Topic<ModuleRootListener> get() = ModuleRootListener.TOPIC

    fun <T : Any> service(type: Class<T>): T = ApplicationManager.getApplication().getService(type)

    fun <T : Any> service(project: Project, type: Class<T>): T = project.getService(type)

    fun notificationGroup(): NotificationGroup =
        NotificationGroupManager.getInstance().getNotificationGroup("Companion for Gemini CLI")

    /** Whether the user trusts the project. */
    fun isTrusted(project: Project): Boolean? = TrustedProjects.isProjectTrusted(project)

    /** Calls [changed], on any thread, when the user comes to trust a project or no longer does, until [parent] ends. */
    fun onTrustChanged(project: Project, parent: Disposable, changed: () -> Unit) {
        val listener = object : TrustedProjectsListener {
            override fun onProjectTrusted(project: Project) = tell(project)

            override fun onProjectUntrusted(project: Project) = tell(project)

            private fun tell(of: Project) {
                if (of == project) changed()
            }
        }
        val connection = ApplicationManager.getApplication().messageBus.connect(parent)
        connection.subscribe(TrustedProjectsListener.TOPIC, listener)
    }
}
