// Shows notifications and questions of the plugin, measures texts for the server, and fills the clipboard.

package dev.companion.gemini.platform

import com.intellij.notification.Notification
import com.intellij.notification.NotificationAction
import com.intellij.notification.NotificationGroup
import com.intellij.notification.NotificationType
import com.intellij.openapi.ide.CopyPasteManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.ui.Messages
import com.intellij.xml.util.XmlStringUtil
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.MAX_NOTE
import java.awt.datatransfer.StringSelection

/** Creates a notification with the plugin's title. [text] may have names that a model chose, so it is never HTML. */
internal fun notice(
    text: String,
    type: NotificationType,
    group: NotificationGroup = Platform.notificationGroup(),
): Notification {
    val content = XmlStringUtil.escapeString(text).replace("\n", "<br>")
    return group.createNotification(content, type).setTitle(message("notification.title"))
}

/** Adds a link. */
internal fun Notification.offer(label: String, perform: () -> Unit): Notification =
    addAction(NotificationAction.createSimple(label, perform))

/** Adds a link that ends the notification. */
internal fun Notification.offerOnce(label: String, perform: () -> Unit): Notification =
    offer(label) {
        expire()
        perform()
    }

/**
 * Asks the user, and returns the place of the answer. Blocks until then; Enter and Esc choose the first answer, which
 * must change nothing. EDT.
 */
internal fun Project.ask(title: String, question: String, answers: List<String>): Int {
    val text = Platform.dialogMessage(question)
    return Messages.showDialog(this, text, title, answers.toTypedArray(), 0, Messages.getQuestionIcon())
}

internal fun copyToClipboard(text: String) = CopyPasteManager.getInstance().setContents(StringSelection(text))

/** Says by how much a reason or a comment is too long for the server; null if it is not. */
internal fun tooLong(text: String): String? {
    val more = text.trim().length - MAX_NOTE
    return if (more > 0) message("note.long", more) else null
}
