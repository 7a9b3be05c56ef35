// Writes a file in place of the CLI.

package dev.companion.gemini.review

import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.ThrowableComputable
import com.intellij.openapi.vfs.ReadonlyStatusHandler
import com.intellij.openapi.vfs.VirtualFile
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.tabs.Proposal
import dev.companion.gemini.target.Target
import dev.companion.gemini.target.TargetException
import dev.companion.gemini.target.TextForm
import dev.companion.gemini.target.isEmptyOfUnknownType
import java.io.IOException
import java.util.concurrent.Executor

internal class TargetWriter(
    private val project: Project,
    private val background: Executor,
    private val queue: ProposalQueue,
    /** Waits for the disk, off the EDT. Throws an [IOException] if the disk refuses the file. */
    private val flush: (VirtualFile) -> Unit,
    /** Ends an undelivered proposal whose file has its text. */
    private val finish: (Proposal) -> Unit,
) {
    /**
     * Writes the proposal into the file as an undoable edit. Calls [then] in its turn, after the disk has accepted or
     * refused the file. Does not ask the user, who may not be there, to make it writable. EDT.
     */
    fun write(target: Target, proposal: Proposal, then: (Result<Unit>) -> Unit) {
        assertEdt()
        proposal.labelHistory()
        val known = target.file?.takeIf { it.isValid }
        val file = naming(target) {
            if (known != null) {
                overwrite(known, proposal)
            } else {
                inCommand { FileOnDisk.create(target.path, proposal.text) }
            }
        }
        background.execute {
            val flushed = runCatching { naming(target) { flush(file) } }
            queue.later { then(flushed) }
        }
    }

    private fun <T> naming(target: Target, write: () -> T): T =
        try {
            write()
        } catch (e: IOException) {
            throw TargetException(message("diff.error.write", target.path.toString(), e.message.orEmpty()))
        }

    private fun overwrite(file: VirtualFile, proposal: Proposal): VirtualFile {
        val documents = FileDocumentManager.getInstance()
        val document = documents.getDocument(file)
        // Another plugin may have made the text read-only.
        val isWritable = file.isWritable && (document?.isWritable ?: isEmptyOfUnknownType(file))
        if (!isWritable) throw IOException(message("diff.error.readOnly"))
        val text = proposal.document.immutableCharSequence
        if (document != null) TextForm.encodingProblem(file, text)?.let { throw IOException(it) }
        if (document == null || !proposal.isPlain) {
            // Otherwise the platform would ask the user which version to keep.
            if (documents.isFileModified(file)) throw IOException(message("diff.error.unsaved"))
            inCommand { file.setBinaryContent(proposal.text.toByteArray()) }
            return file
        }
        inCommand { document.setText(text) }
        // Exactly the accepted text: trailing spaces are not stripped.
        documents.saveDocumentAsIs(document)
        if (documents.isFileModified(file)) throw IOException(message("diff.error.notSaved"))
        return file
    }

    /** Carries a refusal of the disk out of the command as a value: 2018.3 wraps exceptions. */
    private fun <T> inCommand(change: () -> T): T {
        val work = ThrowableComputable<Result<T>, RuntimeException> {
            try {
                Result.success(change())
            } catch (e: IOException) {
                Result.failure(e)
            }
        }
        return WriteCommandAction
            .writeCommandAction(project)
            .withName(message("diff.command"))
            .compute(work)
            .getOrThrow()
    }

    /** Writes an undelivered proposal into its file. Asks first if a text would be lost. EDT. */
    fun apply(proposal: Proposal) {
        if (proposal.state != Proposal.State.UNDELIVERED) return
        proposal.setWriting(true)
        background.execute {
            val target = runCatching { Target.find(project, proposal.path) }
            queue.later {
                if (proposal.state == Proposal.State.WRITING) {
                    orWaiting(proposal) { apply(proposal, target.getOrThrow()) }
                }
            }
        }
    }

    /** Returns whether it writes the file. */
    private fun apply(proposal: Proposal, target: Target): Boolean {
        proposal.retarget(target)
        if (!ProposalQuestion.isApplied(project, proposal)) return false
        naming(target) { makeWritable(listOfNotNull(target.file)) }
        if (!isMadeOnce(proposal)) return false
        write(target, proposal) { flushed ->
            orWaiting(proposal) {
                flushed.getOrThrow()
                if (proposal.state == Proposal.State.WRITING) finish(proposal)
                true
            }
        }
        return true
    }

    /** Asks the user about files that are read-only. */
    private fun makeWritable(files: List<VirtualFile>) {
        val status = ReadonlyStatusHandler.getInstance(project).ensureFilesWritable(files)
        if (status.hasReadonlyFiles()) throw IOException(message("diff.error.readOnly"))
    }

    /**
     * Returns whether the edit is made only once: the CLI does not make it as well, or the user wants it in any case.
     */
    private fun isMadeOnce(proposal: Proposal): Boolean {
        if (!proposal.isQueued) return true
        val answer = proposal.core.request(ServerMessage.Withdraw(proposal.path))
        if (answer?.withdrawn != true) return ProposalQuestion.isAppliedTwice(project, proposal)
        proposal.keepUndelivered(Delivery.UNKNOWN)
        return true
    }

    /** Lets the proposal wait again, unless [work] goes on. Shows why it can't. */
    private fun orWaiting(proposal: Proposal, work: () -> Boolean) {
        var goesOn = false
        try {
            goesOn = work()
        } catch (e: TargetException) {
            ProposalQuestion.reportUnapplied(project, e.message.orEmpty())
        } finally {
            if (!goesOn) proposal.setWriting(false)
        }
    }
}
