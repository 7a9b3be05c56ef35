// Owns which proposals show, and what becomes of each. Who wins a race is the server's to say.

package dev.companion.gemini.diff

import com.intellij.openapi.Disposable
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.ModalityState
import com.intellij.openapi.diagnostic.Logger
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.FileEditorManagerListener
import com.intellij.openapi.ide.CopyPasteManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.project.ProjectManager
import com.intellij.openapi.project.ProjectManagerListener
import com.intellij.openapi.ui.Messages
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.vfs.VirtualFileManager
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.core.EditorRequest
import dev.companion.gemini.platform.Platform
import java.awt.datatransfer.StringSelection

/**
 * The proposals of one project. What the server asks comes in on its thread, is prepared in the same order on a
 * background thread, and is done in the same order on the EDT, once no dialog is open: neither tabs nor files may
 * change below one.
 */
class ProposalService(private val project: Project) : Disposable {
    private val requests = PendingRequests().also { Disposer.register(this, it) }
    private val background = AppExecutorUtil.createBoundedApplicationPoolExecutor("Gemini CLI proposals", 1)
    private val tabs = ProposalTabs(project)

    @Volatile
    private var core: CompanionCore? = null

    /** By the path as the CLI writes it. EDT. */
    private val open = LinkedHashMap<String, Proposal>()

    init {
        val bus = project.messageBus.connect(this)
        bus.subscribe(FileEditorManagerListener.FILE_EDITOR_MANAGER, ClosedTabs())
        bus.subscribe(ProjectManager.TOPIC, ClosingProject())
        bus.subscribe(VirtualFileManager.VFS_CHANGES, TargetChanges(open.values, ::lookAgain))
    }

    /** Where decisions go from now on; null when there is no server. Proposals of a former one are closed. Any thread. */
    fun connect(core: CompanionCore?) {
        this.core = core
        background.execute {
            later { open.values.filter { it.core !== this.core }.forEach(::finish) }
        }
    }

    /** From the server's thread, as are the next three: returns at once. */
    fun open(request: EditorRequest, filePath: String, newText: String) {
        val asking = core
        prepare(request) { pending ->
            val target = Target.find(project, filePath)
            val text = ProposedText(project, target, newText)
            later(pending) {
                val core = core?.takeIf { asking == null || it === asking }
                    ?: throw TargetException(CompanionBundle.message("diff.error.closed"))
                show(filePath, core, target, text)
                pending.complete()
            }
        }
    }

    fun close(request: EditorRequest, filePath: String) =
        prepare(request) { pending ->
            later(pending) {
                val proposal = open[filePath] ?: throw noProposal()
                val text = proposal.text
                finish(proposal)
                pending.complete(text)
            }
        }

    fun accept(request: EditorRequest, filePath: String) =
        prepare(request) { pending ->
            val target = Target.find(project, filePath)
            later(pending) {
                val proposal = open[filePath] ?: throw noProposal()
                TargetWriter.write(project, target, proposal)
                proposal.core.diffAccepted(filePath, proposal.text)
                TargetWriter.refreshAfterWrite(project, filePath)
                finish(proposal)
                pending.complete()
            }
        }

    fun reject(request: EditorRequest, filePath: String) =
        prepare(request) { pending ->
            later(pending) {
                reject(open[filePath] ?: throw noProposal())
                pending.complete()
            }
        }

    /** The user accepts. If the CLI does not hear it, the tab stays, so that no edit is lost. EDT. */
    internal fun accept(proposal: Proposal) {
        if (proposal.state != Proposal.State.OPEN) return
        val delivery = proposal.core.diffAccepted(proposal.path, proposal.text)
        TargetWriter.refreshAfterWrite(project, proposal.path)
        if (delivery == Delivery.DELIVERED) {
            finish(proposal)
        } else {
            open.remove(proposal.path, proposal)
            proposal.keepUnheard(delivery)
        }
    }

    /** The user rejects. EDT. */
    internal fun reject(proposal: Proposal) {
        if (proposal.state != Proposal.State.OPEN) return
        proposal.core.diffRejected(proposal.path)
        finish(proposal)
    }

    /** Puts a proposal that the CLI did not hear of into the file. EDT. */
    internal fun apply(proposal: Proposal) {
        val answer = object : EditorRequest {
            override fun complete(text: String?) = finish(proposal)

            override fun fail(message: String) =
                background.execute {
                    later { Messages.showErrorDialog(project, message, CompanionBundle.message("diff.apply")) }
                }
        }
        prepare(answer) { pending ->
            val target = Target.find(project, proposal.path)
            later(pending) {
                TargetWriter.write(project, target, proposal)
                pending.complete()
            }
        }
    }

    internal fun copy(proposal: Proposal) =
        CopyPasteManager.getInstance().setContents(StringSelection(proposal.document.text))

    internal fun discard(proposal: Proposal) = finish(proposal)

    override fun dispose() = rejectAll()

    private fun show(path: String, core: CompanionCore, target: Target, text: ProposedText) {
        val former = open.remove(path)?.also(Proposal::end)
        val file = former?.file ?: ProposalFile(path, target.type.icon)
        val proposal = Proposal(file, core, target, text)
        Disposer.register(this, proposal)
        open[path] = proposal
        file.proposal = proposal
        tabs.open(file)
        if (!tabs.isOpen(file)) {
            finish(proposal)
            throw TargetException(CompanionBundle.message("diff.error.tab"))
        }
    }

    /** The end, whatever it is: the tab goes, and its closing is no decision any more. */
    private fun finish(proposal: Proposal) {
        open.remove(proposal.path, proposal)
        proposal.end()
        tabs.close(proposal.file)
        proposal.file.isValid = false
    }

    private fun rejectAll() =
        open.values.toList().forEach {
            it.core.diffRejected(it.path)
            open.remove(it.path)
            it.end()
        }

    /** What cannot be shown any more, such as a directory in its place, is found out when the file is written. */
    private fun lookAgain(proposal: Proposal) =
        background.execute {
            val target = try {
                if (project.isDisposed) return@execute
                Target.find(project, proposal.path)
            } catch (_: TargetException) {
                return@execute
            }
            later { if (proposal.state == Proposal.State.OPEN) proposal.retarget(target) }
        }

    private fun noProposal() = TargetException(CompanionBundle.message("diff.error.none"))

    private fun prepare(request: EditorRequest, job: (PendingRequests.Pending) -> Unit) {
        val pending = requests.add(request)
        background.execute {
            answering(pending) {
                if (project.isDisposed) throw TargetException(CompanionBundle.message("diff.error.closed"))
                job(pending)
            }
        }
    }

    private fun later(pending: PendingRequests.Pending, job: () -> Unit) =
        later {
            if (pending.isWaiting) answering(pending, job)
        }

    /** On the EDT, once no dialog is open: that is the modality of a background thread. */
    private fun later(job: () -> Unit) =
        ApplicationManager
            .getApplication()
            .invokeLater(job, ModalityState.defaultModalityState(), project.disposed)

    private fun answering(pending: PendingRequests.Pending, job: () -> Unit) =
        try {
            job()
        } catch (e: TargetException) {
            pending.fail(e.message.orEmpty())
        } catch (e: RuntimeException) {
            pending.fail(CompanionBundle.message("diff.error.internal"))
            throw e
        }

    /** The user closes a tab: that rejects. Moving it to another window closes it, too, but opens it again at once. */
    private inner class ClosedTabs : FileEditorManagerListener {
        override fun fileClosed(source: FileEditorManager, file: VirtualFile) {
            if (file !is ProposalFile) return
            val check = Runnable { if (!tabs.isOpen(file)) file.proposal?.let(::tabGone) }
            ApplicationManager.getApplication().invokeLater(check, ModalityState.any(), project.disposed)
        }

        private fun tabGone(proposal: Proposal) =
            if (proposal.state == Proposal.State.OPEN) {
                reject(proposal)
            } else {
                finish(proposal)
            }
    }

    private inner class ClosingProject : ProjectManagerListener {
        override fun projectClosing(project: Project) {
            if (project === this@ProposalService.project) rejectAll()
        }
    }

    companion object {
        fun getInstance(project: Project): ProposalService = Platform.service(project, ProposalService::class.java)
    }
}
