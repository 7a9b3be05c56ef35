// Owns the writing of a file in the CLI's place.

package dev.companion.gemini.diff

import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.ReadonlyStatusHandler
import com.intellij.openapi.vfs.VfsUtil
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.util.ThrowableRunnable
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.assertEdt
import java.io.IOException

internal object TargetWriter {
    /** Writes the proposal into the file, undoably, as the file is written by the editor. EDT. */
    fun write(project: Project, target: Target, proposal: Proposal) {
        assertEdt()
        val file = target.file?.takeIf { it.isValid }
        try {
            if (file == null) create(project, target, proposal) else overwrite(project, file, proposal)
        } catch (e: IOException) {
            throw TargetException(
                CompanionBundle.message("diff.error.write", target.path.toString(), e.message.orEmpty()),
            )
        }
    }

    private fun overwrite(project: Project, file: VirtualFile, proposal: Proposal) {
        val documents = FileDocumentManager.getInstance()
        val document = documents.getDocument(file)
        val status = ReadonlyStatusHandler.getInstance(project).ensureFilesWritable(listOf(file))
        if (document == null || status.hasReadonlyFiles()) {
            throw IOException(CompanionBundle.message("diff.error.readOnly"))
        }
        // It may have asked, and the CLI have closed the proposal meanwhile.
        if (proposal.state == Proposal.State.ENDED) throw TargetException(CompanionBundle.message("diff.error.none"))
        val text = proposal.document.immutableCharSequence
        // The platform would write a question mark in the place of each that it can't.
        if (!file.charset.canEncode() || !file.charset.newEncoder().canEncode(text)) {
            throw IOException(CompanionBundle.message("diff.error.encoding", file.charset.displayName()))
        }
        if (!proposal.isPlain) {
            // Or the user would be asked which of two to keep.
            if (documents.isFileModified(file)) throw IOException(CompanionBundle.message("diff.error.unsaved"))
            return inCommand(project) { file.setBinaryContent(proposal.text.toByteArray()) }
        }
        inCommand(project) { document.setText(text) }
        // As it was accepted: not stripped of blanks, for one.
        documents.saveDocumentAsIs(document)
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
