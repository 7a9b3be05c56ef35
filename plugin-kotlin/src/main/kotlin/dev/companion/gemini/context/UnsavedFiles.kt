// Saves the project's files before a prompt, and lists the files that stay unsaved.

package dev.companion.gemini.context

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.disk.PostponedWrites
import dev.companion.gemini.disk.systemPath
import dev.companion.gemini.platform.later
import dev.companion.gemini.platform.laterWithoutDialog
import java.io.IOException
import java.nio.file.Path
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean

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
        val folders = roots.mapNotNull(FileOnDisk::path)
        val answer = Answer(folders, complete)
        AppExecutorUtil
            .getAppScheduledExecutorService()
            .schedule({ answer.complete() }, TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)
        project.later {
            beforePrompt()
            if (!save) inBackground { answer.complete() }
        }
        if (save) {
            inBackground {
                val files = unsaved(folders).filter { it.isWritable && FileOnDisk.isKnown(it) }
                project.laterWithoutDialog { if (!answer.isComplete) save(files, answer) }
            }
        }
    }

    private fun save(files: List<VirtualFile>, answer: Answer) {
        assertEdt()
        val documents = FileDocumentManager.getInstance()
        for (file in files.filter { it.isValid }) documents.getDocument(file)?.let(documents::saveDocument)
        inBackground { answer.complete(files.filterNot(::isOnDisk)) }
    }

    private fun inBackground(work: () -> Unit) {
        ApplicationManager.getApplication().executeOnPooledThread(work)
    }

    private fun isOnDisk(file: VirtualFile): Boolean =
        try {
            PostponedWrites.flush(file)
            true
        } catch (_: IOException) {
            false
        }

    private class Answer(
        private val folders: List<Path>,
        private val send: (List<String>) -> Unit,
    ) {
        private val completed = AtomicBoolean()

        val isComplete get() = completed.get()

        /** Lists the unsaved files, and [others]. Only the first call counts. */
        fun complete(others: List<VirtualFile> = emptyList()) {
            assertNotEdt()
            if (!completed.compareAndSet(false, true)) return
            send((unsaved(folders) + others).map(::systemPath).distinct())
        }
    }

    private companion object {
        const val TIMEOUT_MILLIS = 350L

        fun unsaved(folders: List<Path>): List<VirtualFile> {
            val documents = FileDocumentManager.getInstance()
            return documents.unsavedDocuments.mapNotNull(documents::getFile).filter { file ->
                val path = if (file.isInLocalFileSystem) FileOnDisk.path(file.path) else null
                path != null && folders.any(path::startsWith) && FileOnDisk.isUnsaved(file)
            }
        }
    }
}
