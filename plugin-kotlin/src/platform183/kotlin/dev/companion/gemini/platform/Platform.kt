// Owns what the platform of 2018.3 does in its own way.

package dev.companion.gemini.platform

import com.intellij.ProjectTopics
import com.intellij.notification.NotificationGroup
import com.intellij.openapi.Disposable
import com.intellij.openapi.components.ServiceManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.roots.ModuleRootListener
import com.intellij.util.messages.Topic

object Platform {
    private val notifications by lazy { NotificationGroup.balloonGroup("Companion for Gemini CLI") }

    /** Tells when a project's roots have changed. */
    val rootsTopic: Topic<ModuleRootListener> get() = ProjectTopics.PROJECT_ROOTS

    fun <T : Any> service(type: Class<T>): T = ServiceManager.getService(type)

    fun <T : Any> service(project: Project, type: Class<T>): T = ServiceManager.getService(project, type)

    fun notificationGroup(): NotificationGroup = notifications

    /** Whether the user trusts the project, or null where the platform has no such thing, as this one. */
    @Suppress("UNUSED_PARAMETER", "FunctionOnlyReturningConstant")
    fun isTrusted(project: Project): Boolean? = null

    /** Calls [changed], on any thread, when the user comes to trust a project, until [parent] is disposed. */
    @Suppress("UNUSED_PARAMETER")
    fun onTrustChanged(project: Project, parent: Disposable, changed: () -> Unit) = Unit
}
