// Collects the notifications that a test makes the plugin show.

package dev.companion.gemini

import com.intellij.notification.Notification
import com.intellij.notification.Notifications
import com.intellij.notification.NotificationsAdapter
import com.intellij.openapi.Disposable
import com.intellij.openapi.project.Project
import java.util.concurrent.CopyOnWriteArrayList

/** The notifications that show in [project] from now on, until [parent] is disposed. */
fun shownNotifications(project: Project, parent: Disposable): List<Notification> {
    val shown = CopyOnWriteArrayList<Notification>()
    val listener = object : NotificationsAdapter() {
        override fun notify(notification: Notification) {
            shown += notification
        }
    }
    project.messageBus.connect(parent).subscribe(Notifications.TOPIC, listener)
    return shown
}
