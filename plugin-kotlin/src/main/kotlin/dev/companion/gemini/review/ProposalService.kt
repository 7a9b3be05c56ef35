// Keeps the proposals of a project, and carries out decisions. The server decides races.

package dev.companion.gemini.review

import com.intellij.notification.Notification
import com.intellij.openapi.Disposable
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.project.Project
import com.intellij.openapi.project.ProjectManager
import com.intellij.openapi.project.ProjectManagerListener
import com.intellij.openapi.project.VetoableProjectManagerListener
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.CloseDiff
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.core.OpenDiff
import dev.companion.gemini.core.Responder
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.disk.PostponedWrites
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.later
import dev.companion.gemini.tabs.AccidentalInputFilter
import dev.companion.gemini.tabs.ClosedTabs
import dev.companion.gemini.tabs.Proposal
import dev.companion.gemini.tabs.ProposalDecisions
import dev.companion.gemini.tabs.ProposalFile
import dev.companion.gemini.tabs.ProposalPanel
import dev.companion.gemini.tabs.ProposalTabs
import dev.companion.gemini.tabs.ProposalTitles
import dev.companion.gemini.tabs.ProposedText
import dev.companion.gemini.tabs.ReasonField
import dev.companion.gemini.tabs.TargetBanners
import dev.companion.gemini.tabs.UserDecision
import dev.companion.gemini.target.Target
import dev.companion.gemini.target.TargetException
import dev.companion.gemini.target.TargetPoller
import java.util.concurrent.CopyOnWriteArraySet

/**
 * The proposals of one project. The server's requests arrive on its thread, are prepared in order on a background
 * thread, and are carried out in order on the EDT, once no dialog is open: neither tabs nor files may change below one.
 * Only the text of a proposal that its CLI closes is returned at once.
 */
internal open class ProposalService protected constructor(
    private val project: Project,
    flush: (VirtualFile) -> Unit,
    private val alerts: Alerts,
    /** See [ExpectedTexts]. */
    longestPauseMillis: Long,
) : Disposable,
    ProposalDecisions {
    /** The only public one, because the platform's container chooses among those. */
    constructor(project: Project) :
        this(project, PostponedWrites::flush, Alerts.OfPlatform(project), ExpectedTexts.LONGEST_PAUSE_MILLIS)

    private val requests = PendingRequests().also { Disposer.register(this, it) }
    private val targets = TargetPoller(::lookAgain).also { Disposer.register(this, it) }
    private val background = AppExecutorUtil.createBoundedApplicationPoolExecutor("Gemini CLI proposals", 1)
    private val queue = ProposalQueue(project, ::changed)
    private val tabs = ProposalTabs(project)
    private val writer = TargetWriter(project, background, queue, flush, ::finishWritten)
    private val notices = ProposalNotices(project, ::reviewHidden, ::review)
    override val accidentalInput = AccidentalInputFilter()
    override var isShared = true
        set(value) {
            field = value
            ProposalOrder.update(waiting())
        }

    /** The proposals that have not ended, oldest first. The EDT changes it. */
    private val proposals = CopyOnWriteArraySet<Proposal>()

    private val expected = ExpectedTexts(queue, longestPauseMillis, ::offerUnwritten, ::finishExpected)

    /** One alert is for all proposals that arrive until the user returns or all are decided. */
    private var isAlerted = false

    /** The user has agreed that the project closes. */
    private var isClosing = false

    init {
        ClosedTabs(project, this, accidentalInput, proposals)
        alerts.onReturn(this) { isAlerted = false }
        val closing = object : ProjectManagerListener {
            /** The platform writes open tabs into workspace.xml, and would miss their files at the next start. */
            override fun projectClosingBeforeSave(closed: Project) {
                if (closed === project) proposals.forEach { tabs.close(it.file) }
            }

            override fun projectClosing(closed: Project) {
                if (closed === project) dispose()
            }
        }
        project.messageBus.connect(this).subscribe(ProjectManager.TOPIC, closing)
        val veto = VetoableProjectManagerListener { it !== project || mayClose() }
        ProjectManager.getInstance().addProjectManagerListener(veto)
        Disposer.register(this) { ProjectManager.getInstance().removeProjectManagerListener(veto) }
    }

    /** Asks the user once, although the platform asks twice in one event before it exits. */
    private fun mayClose(): Boolean {
        val edited = proposals.filter(Proposal::isEdited)
        if (isClosing || edited.isEmpty()) return true
        isClosing = ProposalQuestion.isProjectClosed(project, edited)
        queue.later { isClosing = false }
        return isClosing
    }

    /**
     * Takes the proposals of servers that have ended to [next], right after its start, and ends those that it does not
     * take up. Accepted ones that no CLI has received stay. Not on the EDT.
     */
    fun follow(next: CompanionCore?) {
        val left = LeftProposals(next, proposals)
        background.execute { queue.later { endOfClosed(left) } }
    }

    private fun endOfClosed(left: LeftProposals) {
        // That server has ended as well, and the same follows for the next one.
        if (left.next?.isClosed == true) return
        left.takeOver(waiting(), ::carryOut) { keepUndelivered(it, Delivery.UNKNOWN) }
        for (proposal in proposals.filter { it.core.isClosed && it.delivery == Delivery.DELIVERED }) {
            val reason = (proposal.deferred as? UserDecision.Rejected)?.reason
            if (reason != null) notices.reasonLost(proposal.path, reason, message("cli.reason.ended"))
            finish(proposal)
        }
        expected.lookWithoutServer()
    }

    private fun carryOut(proposal: Proposal, decision: UserDecision) =
        when (decision) {
            is UserDecision.Rejected -> reject(proposal, decision.reason)

            // The IDE may have written it on behalf of a CLI, or the user has.
            UserDecision.Accepted -> if (proposal.isInFile) acceptNow(proposal, nextOf(proposal)) else accept(proposal)
        }

    /** Called on the server's thread, as are [close], [accept] and [reject]: returns at once. */
    fun open(core: CompanionCore, responder: Responder<String?>, diff: OpenDiff) =
        prepare(responder) { pending ->
            val target = Target.find(project, diff.filePath)
            val text = ProposedText(project, target, diff)
            later(pending) {
                if (core.isClosed) throw TargetException(message("diff.error.closed"))
                add(diff.filePath, core, target, text)
                pending.complete()
            }
        }

    fun close(core: CompanionCore, responder: Responder<String?>, asked: CloseDiff) {
        val pending = requests.add(responder)
        // Without the user's text the CLI would use its own. So this is answered even while a dialog is open.
        pending.waitFor(project::later) { closeNow(core, pending, asked) }
    }

    fun accept(responder: Responder<String?>, filePath: String) =
        prepare(responder) { pending ->
            val target = Target.find(project, filePath)
            later(pending) {
                val proposal = waiting(filePath)
                proposal.retarget(target)
                // The client that accepts has not seen the change.
                if (proposal.overwrites) throw TargetException(message("diff.error.changed", filePath))
                if (proposal.replaysEdits) {
                    acceptNow(proposal)
                    pending.complete()
                    return@later
                }
                val text = proposal.accepted
                writer.write(target, proposal) { flushed ->
                    proposal.setWriting(false)
                    pending.waitFor({ it() }) { acceptWritten(pending, proposal, text, flushed) }
                }
                proposal.setWriting(true)
            }
        }

    private fun acceptWritten(
        pending: PendingRequests.Pending,
        proposal: Proposal,
        text: String,
        flushed: Result<Unit>,
    ) {
        flushed.getOrThrow()
        if (proposal.state == Proposal.State.ENDED) throw TargetException(message("diff.error.none"))
        if (proposal.core.request(ServerMessage.Accepted(proposal.path, text)) == null) {
            proposal.defer(UserDecision.Accepted)
        } else {
            FileOnDisk.refreshSoon(proposal.target.path)
            if (proposal.accepted == text) finishWritten(proposal) else finish(proposal)
        }
        pending.complete()
    }

    /** The CLI has written the text that was accepted last. Any thread, as the next. */
    fun written(filePath: String) = queue.later { expected.written(filePath) }

    fun unwritten(filePath: String) = queue.later { expected.unwritten(filePath) }

    /** Any thread. */
    fun reasonLost(filePath: String, reason: String, why: String) =
        project.later { notices.reasonLost(filePath, reason, why) }

    private fun offerUnwritten(proposal: Proposal): Notification? {
        if (proposal !in proposals) return notices.offerBack(proposal, "diff.back.unwritten")
        keepUndelivered(proposal, Delivery.UNKNOWN)
        return null
    }

    fun reject(responder: Responder<String?>, filePath: String) =
        prepare(responder) { pending ->
            later(pending) {
                rejectNow(waiting(filePath))
                pending.complete()
            }
        }

    /** The proposals that wait for a decision, oldest first. EDT. */
    internal fun waiting(): List<Proposal> = proposals.filter { it.state == Proposal.State.OPEN }

    override fun review(proposal: Proposal) =
        queue.inTurn {
            if (proposal in proposals) tabs.show(proposal.file)
        }

    /** Opens proposals without a tab, the oldest in front. If there are none, the notification is outdated: opens all. */
    private fun reviewHidden() {
        val hidden = proposals.filterNot { tabs.isOpen(it.file) }.ifEmpty { waiting() }
        (hidden + hidden.take(1)).forEach(::review)
    }

    override fun go(from: Proposal?, by: Int) =
        queue.inTurn { ProposalOrder.step(waiting(), from, by)?.let { tabs.show(it.file) } }

    override fun accept(proposal: Proposal) =
        queue.inTurn {
            if (proposal.state != Proposal.State.OPEN) return@inTurn
            val next = nextOf(proposal)
            val answer =
                if (proposal.isStale) ProposalQuestion.stale(project, proposal) else ProposalQuestion.Stale.ACCEPT
            when (answer) {
                ProposalQuestion.Stale.ACCEPT -> acceptNow(proposal, next)
                ProposalQuestion.Stale.SHOW -> ProposalQuestion.showChange(project, proposal)
                ProposalQuestion.Stale.KEEP -> Unit
            }
        }

    override fun showChange(proposal: Proposal) = queue.inTurn { ProposalQuestion.showChange(project, proposal) }

    /** Accepts waiting proposals with their present text: all, or those of one CLI if the user chooses that. EDT. */
    internal fun acceptAll() =
        queue.inTurn {
            val round = BulkReview(waiting())
            val left = LinkedHashMap<Proposal, String>()
            for (proposal in ProposalQuestion.accepted(project, round)) {
                // It may have been decided while the question was open.
                if (proposal.state != Proposal.State.OPEN) continue
                val objection = round.objection(proposal)
                if (objection != null) left[proposal] = objection else acceptNow(proposal)
                if (proposal.state == Proposal.State.UNDELIVERED) left[proposal] = message(proposal.undelivered)
            }
            notices.reportLeft(left)
        }

    /** Rejects waiting proposals: all, or those of one CLI if the user chooses that. EDT. */
    internal fun rejectAll() =
        queue.inTurn { ProposalQuestion.rejected(project, BulkReview(waiting())).forEach { rejectNow(it) } }

    override fun reject(proposal: Proposal, reason: String?) =
        queue.inTurn { rejectNow(proposal, nextOf(proposal), reason) }

    override fun closeByUser(proposal: Proposal) =
        queue.inTurn {
            val next = nextOf(proposal)
            when {
                proposal.state in listOf(Proposal.State.WRITING, Proposal.State.ENDED) -> Unit
                proposal.state == Proposal.State.UNDELIVERED -> finish(proposal)
                proposal.deferred == UserDecision.Accepted -> Unit
                !proposal.isEdited || ProposalQuestion.isRejected(project, proposal) -> rejectNow(proposal, next)
                proposal.state == Proposal.State.OPEN && !tabs.isOpen(proposal.file) -> tabs.show(proposal.file)
            }
        }

    override fun apply(proposal: Proposal) = writer.apply(proposal)

    override fun registerActions(tab: ProposalPanel, parent: Disposable) = ProposalActions.register(tab, parent)

    override fun registerActions(editor: Editor) {
        NextChangeAction(editor)
    }

    private fun closeNow(core: CompanionCore, pending: PendingRequests.Pending, asked: CloseDiff) {
        val proposal = waiting(asked.filePath)
        val text = proposal.accepted
        // That server looks whether the CLI writes the text.
        proposal.follow(core)
        if (asked.abandoned) end(proposal) else endExpecting(proposal)
        pending.complete(text)
        FileOnDisk.refreshSoon(proposal.target.path)
        queue.later { closeTab(proposal.file, null) }
    }

    private fun add(path: String, core: CompanionCore, target: Target, text: ProposedText) {
        assertEdt()
        val former = waiting().find { it.path == path }?.also(::end)
        val file = former?.file ?: ProposalFile(path, target.type.icon, this)
        val proposal = Proposal(project, file, core, target, text)
        Disposer.register(this, proposal)
        proposals += proposal
        try {
            watchingFront {
                file.proposal = proposal
                updateTitles()
                ProposalOrder.update(waiting())
                if (!tabs.isOpen(file)) tabs.openAside(file)
            }
        } catch (e: Throwable) {
            // The error fails the edit of Gemini CLI.
            endQuietly(proposal)
            throw e
        }
        if (isAlerted || !alerts.isInBackground) return
        isAlerted = true
        // The text contains the tab's path, and nothing of the content.
        alerts.show(message("notification.title"), proposal.offer)
    }

    /** After its operations, the queue calls [changed]. */
    override fun tabOpened() = queue.later {}

    /** [ClosedTabs] knows how the tab was closed. */
    override fun tabGone(file: ProposalFile, byUser: Boolean) {
        // The plugin closes the tabs of proposals that have ended.
        file.proposal?.takeIf { it in proposals } ?: return
        queue.later {
            val proposal = file.proposal?.takeIf { it in proposals && !tabs.isOpen(file) }
            if (proposal != null && byUser) closeByUser(proposal)
        }
    }

    /** Accepts the proposal. If the CLI does not receive the acceptance, the tab stays, so that no edit is lost. */
    private fun acceptNow(proposal: Proposal, next: Proposal? = null) {
        if (proposal.state != Proposal.State.OPEN) return
        val text = proposal.accepted
        if (!proposal.core.isClosed) proposal.labelHistory()
        val delivery = proposal.core.request(ServerMessage.Accepted(proposal.path, text))?.delivery
        FileOnDisk.refreshSoon(proposal.target.path)
        if (delivery == null) {
            proposal.defer(UserDecision.Accepted)
        } else if (delivery == Delivery.DELIVERED) {
            endExpecting(proposal)
            closeTab(proposal.file, next)
        } else {
            if (delivery == Delivery.QUEUED) expected.add(proposal)
            keepUndelivered(proposal, delivery)
        }
    }

    /** Ends a proposal whose text the CLI gets. The server looks whether the CLI writes a text of the user. */
    private fun endExpecting(proposal: Proposal) {
        if (proposal.isEdited) expected.add(proposal)
        endQuietly(proposal)
    }

    /** The file has the accepted text. The user may have typed in the tab since. */
    private fun finishExpected(proposal: Proposal, isEditedSince: Boolean) =
        if (isEditedSince && proposal in proposals) finish(proposal) else finishWritten(proposal)

    /** The file has the text. */
    private fun finishWritten(proposal: Proposal) {
        expected.remove(proposal)
        if (proposal !in proposals) return
        endQuietly(proposal)
        closeTab(proposal.file, null)
    }

    private fun keepUndelivered(proposal: Proposal, delivery: Delivery) {
        proposal.keepUndelivered(delivery)
        accidentalInput.expect(listOf(proposal))
    }

    private fun rejectNow(proposal: Proposal, next: Proposal? = null, reason: String? = null) {
        if (proposal.state != Proposal.State.OPEN) return
        if (proposal.core.send(ServerMessage.Rejected(proposal.path, reason))) {
            if (reason != null) ReasonField.forgetDraft(project, proposal.path)
            finish(proposal, next)
        } else {
            proposal.defer(UserDecision.Rejected(reason))
        }
    }

    /** Returns the next proposal to show after a decision; none if the focus is elsewhere. */
    private fun nextOf(proposal: Proposal): Proposal? =
        ProposalOrder.step(waiting(), proposal, 1).takeIf { it !== proposal && tabs.hasFocus(proposal.file) }

    /** Ends a proposal, however it was decided. The user's text stays available, unless it was delivered. */
    private fun finish(proposal: Proposal, next: Proposal? = null) {
        end(proposal)
        closeTab(proposal.file, next)
    }

    private fun end(proposal: Proposal) {
        expected.remove(proposal)
        if (proposal.isEdited) notices.offerBack(proposal, "diff.back")
        endQuietly(proposal)
    }

    private fun endQuietly(proposal: Proposal) {
        assertEdt()
        proposals -= proposal
        proposal.end()
    }

    private fun closeTab(file: ProposalFile, next: Proposal?) {
        watchingFront {
            // Before the tab closes: otherwise the neighboring tab would be in front for a moment,
            // and the CLI would receive its file.
            if (next?.state == Proposal.State.OPEN) tabs.show(next.file)
            tabs.close(file)
        }
        file.isValid = false
        // The platform keeps files that were open, so the proposed text must be released.
        file.proposal = null
    }

    /** Ignores early input if [change] shows another proposal in the place of one that the user was about to decide. */
    private fun watchingFront(change: () -> Unit) {
        val seen = inFront()
        change()
        val unseen = inFront() - seen
        if (seen.isNotEmpty() && unseen.isNotEmpty()) accidentalInput.expect(unseen)
    }

    private fun inFront(): List<Proposal> = ProposalTabs.inFront(project).mapNotNull { it.proposal }

    /** Updates the titles: another proposal for a file of the same name may need a distinguishing title. */
    private fun updateTitles() = ProposalTitles.update(proposals).forEach(tabs::titleChanged)

    /** Reports the present proposals and their places. */
    private fun changed() {
        assertEdt()
        updateTitles()
        ProposalOrder.update(waiting())
        targets.update(proposals.mapTo(LinkedHashSet()) { it.target.path })
        TargetBanners.update(project, waiting())
        if (waiting().isEmpty()) isAlerted = false
        notices.showWaiting(proposals.filterNot { tabs.isOpen(it.file) || it.deferred != null })
        project.messageBus.syncPublisher(ProposalListener.TOPIC).proposalsChanged()
    }

    /** The project closes, with or without the question. */
    override fun dispose() {
        waiting().forEach { it.core.send(ServerMessage.Rejected(it.path)) }
        proposals.toList().forEach(::endQuietly)
    }

    /** Finds the targets again. One that can't be shown any more is detected when the file is written. Any thread. */
    private fun lookAgain() =
        background.execute {
            val found = proposals.associateWith(::find)
            queue.later {
                for ((proposal, target) in found) {
                    if (target != null && proposal.state != Proposal.State.ENDED) proposal.retarget(target)
                }
            }
        }

    private fun find(proposal: Proposal): Target? =
        try {
            Target.find(project, proposal.path)
        } catch (_: TargetException) {
            null
        }

    private fun waiting(path: String) =
        waiting().find { it.path == path } ?: throw TargetException(message("diff.error.none"))

    private fun prepare(responder: Responder<String?>, job: (PendingRequests.Pending) -> Unit) {
        val pending = requests.add(responder)
        pending.waitFor({ background.execute(it) }) { job(pending) }
    }

    private fun later(pending: PendingRequests.Pending, job: () -> Unit) = pending.waitFor(queue::later, job)

    companion object {
        fun getInstance(project: Project): ProposalService = Platform.service(project, ProposalService::class.java)
    }
}
