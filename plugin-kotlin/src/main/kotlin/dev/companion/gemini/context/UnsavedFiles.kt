// Saves the project's files before a prompt, and lists the files that stay unsaved.

package dev.companion.gemini.context

import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.disk.PostponedWrites
import dev.companion.gemini.disk.systemPath
import dev.companion.gemini.platform.after
import dev.companion.gemini.platform.inBackground
import dev.companion.gemini.platform.later
import dev.companion.gemini.platform.laterWithoutDialog
import dev.companion.gemini.platform.logFailure
import java.io.IOException
import java.nio.file.Path
import java.nio.file.Paths
import java.util.concurrent.CompletableFuture

/**
 * Answers within [TIMEOUT_MILLIS], even while a dialog is open: then nothing is saved. A file that has changed on the
 * disk is not saved, because that would overwrite the change.
 */
internal class UnsavedFiles(
    private val project: Project,
    /** Brings the server up to date before a prompt. EDT. */
    private val beforePrompt: () -> Unit = {},
) {
    /** Any thread; returns at once. [roots] are the folders of the project. Calls [complete] once, with the paths. */
    fun list(roots: List<String>, save: Boolean, complete: (List<String>) -> Unit) {
        val folders = roots.map { Paths.get(it) }
        // The files whose new text does not get to the disk. Only the first answer counts.
        val unwritten = CompletableFuture<List<VirtualFile>>()
        unwritten.thenAccept { complete((unsaved(folders) + it).map(::systemPath).distinct()) }.logFailure()
        after(TIMEOUT_MILLIS) { unwritten.complete(emptyList()) }
        project.later {
            beforePrompt()
            if (!save) inBackground { unwritten.complete(emptyList()) }
        }
        if (save) {
            inBackground {
                val files = unsaved(folders).filter { it.isWritable && FileOnDisk.isKnown(it) }
                project.laterWithoutDialog { if (!unwritten.isDone) save(files, unwritten) }
            }
        }
    }

    private fun save(files: List<VirtualFile>, unwritten: CompletableFuture<List<VirtualFile>>) {
        assertEdt()
        val documents = FileDocumentManager.getInstance()
        for (file in files.filter { it.isValid }) documents.getDocument(file)?.let(documents::saveDocument)
        inBackground { unwritten.complete(files.filterNot(::isOnDisk)) }
    }

    private fun isOnDisk(file: VirtualFile): Boolean =
        try {
            PostponedWrites.flush(file)
            true
        } catch (_: IOException) {
            false
        }

    private fun unsaved(folders: List<Path>): List<VirtualFile> {
        assertNotEdt()
        val documents = FileDocumentManager.getInstance()
        return documents.unsavedDocuments.mapNotNull(documents::getFile).filter { file ->
            val path = if (file.isInLocalFileSystem) FileOnDisk.path(file.path) else null
            path != null && folders.any(path::startsWith) && FileOnDisk.isUnsaved(file)
        }
    }

    private companion object {
        const val TIMEOUT_MILLIS = 350L
    }
}
