// Shows notifications about proposals without a tab, and offers the user's text of ended ones.

package dev.companion.gemini.review

import com.intellij.notification.Notification
import com.intellij.notification.NotificationGroup
import com.intellij.notification.NotificationType
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileTypes.PlainTextFileType
import com.intellij.openapi.project.Project
import com.intellij.testFramework.LightVirtualFile
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.copyToClipboard
import dev.companion.gemini.platform.notice
import dev.companion.gemini.platform.offer
import dev.companion.gemini.platform.offerOnce
import dev.companion.gemini.tabs.Proposal
import dev.companion.gemini.target.ShownPath

/** For the EDT. */
internal class ProposalNotices(
    private val project: Project,
    private val review: () -> Unit,
    private val show: (Proposal) -> Unit,
) {
    /** With the delivery of the acceptance: after an acceptance in vain, another text is true. */
    private var hidden = emptyMap<Proposal, Delivery>()
    private var waiting: Notification? = null

    /** Lists the proposals without a tab, as long as there are any. */
    fun showWaiting(proposals: List<Proposal>) {
        assertEdt()
        val delivery = proposals.associateWith { it.delivery }
        if (delivery == hidden) return
        val isNews = !hidden.entries.containsAll(delivery.entries)
        hidden = delivery
        // The notification stays, because a second balloon would disturb a user who opens one after the other. So the
        // text about several is also true once some have left.
        if (!isNews && proposals.isNotEmpty()) return
        waiting?.expire()
        waiting = null
        val first = proposals.firstOrNull() ?: return
        val text = if (proposals.size == 1) {
            message("diff.waiting", about(first))
        } else {
            val (open, accepted) = proposals.partition { it.delivery == Delivery.DELIVERED }
            val counts = listOfNotNull(count("diff.waiting.open", open), count("diff.waiting.accepted", accepted))
            message("diff.waiting.several", counts.joinToString(" "))
        }
        waiting = report(text, message("diff.show"), Platform.stickyNotificationGroup(), review)
    }

    private fun count(key: String, proposals: List<Proposal>): String? =
        proposals.firstOrNull()?.let { message(key, proposals.size, it.shownPath) }

    private fun about(proposal: Proposal): String =
        if (proposal.delivery == Delivery.DELIVERED) {
            proposal.offer
        } else {
            "${proposal.shownPath}: ${message(proposal.undelivered)}"
        }

    /** Offers the user's text, which would otherwise be lost with the proposal, and gives the reason, [why]. */
    fun offerBack(proposal: Proposal, why: String): Notification {
        val name = ShownPath.name(proposal.path)
        val type = proposal.type.takeUnless { it.isBinary } ?: PlainTextFileType.INSTANCE
        val file = LightVirtualFile(message("diff.back.tab", name), type, proposal.document.text)
        // The file is only for copying. Typed text would be lost with its tab, without a question.
        file.isWritable = false
        return report(message(why, proposal.shownPath), message("diff.back.show")) {
            FileEditorManager.getInstance(project).openFile(file, true)
        }
    }

    /** No model gets the [reason] of a rejection. The user can send it by hand. [why] is the end of a sentence. */
    fun reasonLost(path: String, reason: String, why: String) {
        val text = message("cli.reason.lost", ShownPath.name(path), why)
        notice(text, NotificationType.WARNING, Platform.stickyNotificationGroup())
            .offerOnce(message("cli.reason.copy")) { copyToClipboard(reason) }
            .notify(project)
    }

    /** Lists the bulk-accepted proposals that stayed open, each with the reason. */
    fun reportLeft(left: Map<Proposal, String>) {
        if (left.isEmpty()) return
        val sentences = left.map { (proposal, why) -> message("diff.left", proposal.shownPath, why) }
        report(sentences.joinToString(" "), message("diff.show")) { left.keys.forEach(show) }
    }

    private fun report(
        text: String,
        label: String,
        group: NotificationGroup = Platform.notificationGroup(),
        action: () -> Unit,
    ): Notification = notice(text, NotificationType.INFORMATION, group).offer(label, action).also { it.notify(project) }
}
