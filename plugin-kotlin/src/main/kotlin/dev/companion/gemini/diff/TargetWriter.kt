// Owns the writing of a file in the CLI's place, and the look at it after the CLI has written.

package dev.companion.gemini.diff

import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.ReadonlyStatusHandler
import com.intellij.openapi.vfs.VfsUtil
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.util.ThrowableRunnable
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.CompanionBundle
import java.io.IOException
import java.nio.file.Path
import java.util.concurrent.TimeUnit

internal object TargetWriter {
    private val REFRESH_AFTER_MILLIS = longArrayOf(100, 1_000, 3_000, 10_000)

    /** Writes the proposal into the file, undoably, as the file is written by the editor. EDT. */
    fun write(project: Project, target: Target, proposal: Proposal) {
        val file = target.file?.takeIf { it.isValid }
        try {
            if (file == null) create(project, target, proposal) else overwrite(project, file, proposal)
        } catch (e: IOException) {
            throw TargetException(
                CompanionBundle.message("diff.error.write", target.path.toString(), e.message.orEmpty()),
            )
        }
    }

    /**
     * The CLI writes the file a moment after it hears of the acceptance, so the VFS is asked to look a few times, off
     * the EDT. Later changes come by the IDE's file watcher.
     */
    fun refreshAfterWrite(project: Project, path: Path) {
        val look = Runnable { if (!project.isDisposed) FileOnDisk.find(path) }
        for (delay in REFRESH_AFTER_MILLIS) {
            AppExecutorUtil.getAppScheduledExecutorService().schedule(look, delay, TimeUnit.MILLISECONDS)
        }
    }

    private fun overwrite(project: Project, file: VirtualFile, proposal: Proposal) {
        val documents = FileDocumentManager.getInstance()
        val document = documents.getDocument(file)
        val status = ReadonlyStatusHandler.getInstance(project).ensureFilesWritable(listOf(file))
        if (document == null || status.hasReadonlyFiles()) {
            throw IOException(CompanionBundle.message("diff.error.readOnly"))
        }
        inCommand(project) { document.setText(proposal.document.immutableCharSequence) }
        documents.saveDocument(document)
        if (documents.isFileModified(file)) throw IOException(CompanionBundle.message("diff.error.notSaved"))
    }

    private fun create(project: Project, target: Target, proposal: Proposal) =
        inCommand(project) {
            val directory = VfsUtil.createDirectories(target.path.parent.toString())
            directory.createChildData(this, target.name).setBinaryContent(proposal.text.toByteArray())
        }

    private fun inCommand(project: Project, change: () -> Unit) {
        WriteCommandAction
            .writeCommandAction(project)
            .withName(CompanionBundle.message("diff.command"))
            .run(ThrowableRunnable<IOException> { change() })
    }
}
