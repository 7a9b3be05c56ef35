// Owns one proposal: its text, which the user edits, and what has become of it.

package dev.companion.gemini.diff

import com.intellij.diff.DiffContentFactory
import com.intellij.notification.Notification
import com.intellij.notification.NotificationAction
import com.intellij.notification.NotificationType
import com.intellij.openapi.Disposable
import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.event.DocumentEvent
import com.intellij.openapi.editor.event.DocumentListener
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Disposer
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.platform.Platform

/** What the CLI proposed, ready to be shown. Made off the EDT. */
internal class ProposedText(
    project: Project,
    target: Target,
    text: String,
) {
    val form = TextForm.of(text)
    val document: Document

    init {
        val plain = TextForm.plain(text)
        document = DiffContentFactory.getInstance().createEditable(project, plain, target.type).document
        if (document.textLength != plain.length) {
            throw TargetException(CompanionBundle.message("diff.error.large", target.path.toString()))
        }
    }
}

/** A proposal that shows, or has shown. For the EDT. */
internal class Proposal(
    val file: ProposalFile,
    val core: CompanionCore,
    target: Target,
    private val proposed: ProposedText,
) : Disposable {
    enum class State { OPEN, UNHEARD, ENDED }

    var state = State.OPEN
        private set

    /** How it was accepted, if the CLI does not know of it. */
    var delivery = Delivery.DELIVERED
        private set

    /** What the file is now. */
    var target = target
        private set

    /** It existed when the proposal came. */
    private val existed = target.file != null

    private var changed = false
    private var form = target.form(proposed.form)
    private var targetListening: Disposable? = null
    private var notification: Notification? = null

    val path: String get() = file.targetPath

    /** The side that the user edits. */
    val document: Document get() = proposed.document

    /** The proposal as it is now, in the form in which the CLI is to write it. */
    val text: String get() = form().apply(document.immutableCharSequence)

    /** What the user should know before deciding. */
    val remarks: List<Remark>
        get() = listOfNotNull(
            Remark.OUTSIDE.takeIf { target.outside },
            Remark.READ_ONLY.takeIf { target.file?.isWritable == false },
            Remark.DELETED.takeIf { existed && target.file == null },
            Remark.CREATED.takeIf { !existed && target.file != null },
            Remark.CHANGED.takeIf { changed },
            Remark.UNSAVED.takeIf { !changed && isUnsaved() },
        )

    init {
        listen()
    }

    /** The file was created, deleted or moved. */
    fun retarget(target: Target) {
        if (target.file == this.target.file) return
        form = form()
        this.target = target
        listen()
        file.editors.forEach(ProposalEditor::showProposal)
    }

    /** Nobody has heard that it was accepted, so the text stays where the user can get at it. */
    fun keepUnheard(delivery: Delivery) {
        state = State.UNHEARD
        this.delivery = delivery
        file.editors.forEach(ProposalEditor::showBanner)
    }

    /** Tells the user of the tab in the background, until it shows or ends. */
    fun announce(project: Project, show: () -> Unit) {
        val announced = Platform
            .notificationGroup()
            .createNotification(ProposalBanner.offer(this), NotificationType.INFORMATION)
            .addAction(NotificationAction.createSimple(CompanionBundle.message("diff.show"), Runnable(show)))
        notification = announced
        announced.notify(project)
    }

    fun shown() {
        notification?.expire()
        notification = null
    }

    fun end() {
        state = State.ENDED
        shown()
        Disposer.dispose(this)
        file.editors.forEach(ProposalEditor::showBanner)
    }

    override fun dispose() = Unit

    /** As the file has it now; of a deleted one, as it was. */
    private fun form(): TextForm = if (target.file?.isValid == true) target.form(proposed.form) else form

    private fun isUnsaved() = target.file?.let(FileDocumentManager.getInstance()::isFileModified) == true

    private fun listen() {
        targetListening?.let(Disposer::dispose)
        val listening = Disposer.newDisposable().also { Disposer.register(this, it) }
        targetListening = listening
        target.document?.addDocumentListener(
            object : DocumentListener {
                override fun documentChanged(event: DocumentEvent) = noteChange()
            },
            listening,
        )
    }

    private fun noteChange() {
        if (changed) return
        changed = true
        file.editors.forEach(ProposalEditor::showBanner)
    }
}

/** A word in the banner. */
internal enum class Remark(val key: String) {
    OUTSIDE("diff.remark.outside"),
    READ_ONLY("diff.remark.readOnly"),
    DELETED("diff.remark.deleted"),
    CREATED("diff.remark.created"),
    CHANGED("diff.remark.changed"),
    UNSAVED("diff.remark.unsaved"),
}
