// Finds the files that change while a shell command of a CLI runs, by the IDE's own file watching.

package dev.companion.gemini.changes

import com.intellij.openapi.Disposable
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.roots.ProjectRootManager
import com.intellij.openapi.vfs.LocalFileSystem
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.vfs.VirtualFileManager
import com.intellij.openapi.vfs.newvfs.BulkFileListener
import com.intellij.openapi.vfs.newvfs.events.VFileContentChangeEvent
import com.intellij.openapi.vfs.newvfs.events.VFileCreateEvent
import com.intellij.openapi.vfs.newvfs.events.VFileDeleteEvent
import com.intellij.openapi.vfs.newvfs.events.VFileEvent
import dev.companion.gemini.core.ChangeKind
import dev.companion.gemini.core.CliCommand
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.PromptKey
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.disk.OpenedPath
import dev.companion.gemini.platform.inBackground
import dev.companion.gemini.platform.later

/**
 * Lists files of the project's content that a program other than the IDE changed. Two programs that write at the same
 * time can't be distinguished. A deletion is counted even if it is older than the command, because nothing has its time.
 *
 * For the EDT. [report] is called on any thread.
 */
internal class CommandWatch(
    private val project: Project,
    parent: Disposable,
    private val report: (CompanionCore, CliCommand, Map<String, ChangeKind>) -> Unit,
) : BulkFileListener {
    private class Running(
        val core: CompanionCore,
        val command: CliCommand,
        /** Milliseconds since 1970. */
        val since: Long,
    ) {
        val files = CommandFiles()
        var isEnding = false
    }

    /** One for each start, the oldest first: a CLI can run several commands at once. */
    private val running = ArrayList<Running>()

    init {
        project.messageBus.connect(parent).subscribe(VirtualFileManager.VFS_CHANGES, this)
    }

    fun started(core: CompanionCore, command: CliCommand, now: Long) {
        assertEdt()
        running += Running(core, command, now)
    }

    /**
     * Ends one command of the prompt, and reports its files once the IDE has looked at the project's files. With
     * several commands, it is not known which one: the oldest has all files that the others can have, up to now.
     */
    fun ended(key: PromptKey) {
        assertEdt()
        val ended = running.find { it.command.key == key && !it.isEnding } ?: return
        ended.isEnding = true
        val roots = OpenedPath.contentRoots(project)
        inBackground {
            val finish = Runnable { project.later { finish(ended) } }
            // The platform would ask the user about a conflict, in a dialog, and does so when the user comes back.
            if (hasConflict()) finish.run() else LocalFileSystem.getInstance().refreshFiles(roots, true, true, finish)
        }
    }

    /**
     * Forgets one command of the prompt. With several commands, it is not known which one: the newest, because the
     * oldest has all files that the others can have.
     */
    fun lost(key: PromptKey) {
        assertEdt()
        running.findLast { it.command.key == key && !it.isEnding }?.let(running::remove)
    }

    /** Forgets the commands of a prompt that has left the list. */
    fun forget(key: PromptKey) {
        assertEdt()
        running.removeIf { it.command.key == key }
    }

    /** Forgets the commands of servers that have ended. */
    fun forgetClosed() {
        assertEdt()
        running.removeIf { it.core.isClosed }
    }

    private fun finish(ended: Running) {
        if (!running.remove(ended) || ended.files.isEmpty) return
        inBackground {
            report(ended.core, ended.command, ended.files.since(ended.since - CLOCK_TOLERANCE_MILLIS, index))
        }
    }

    /** Before a deletion, because the index does not know a deleted file. */
    override fun before(events: List<VFileEvent>) {
        for (event in events) {
            if (event !is VFileDeleteEvent || !isWatched(event, event.file)) continue
            val files = CommandFiles.filesOf(event.file, index)
            running.forEach { it.files.deleted(files) }
        }
    }

    override fun after(events: List<VFileEvent>) {
        for (event in events) {
            val kind = when (event) {
                is VFileContentChangeEvent -> ChangeKind.CHANGED
                is VFileCreateEvent -> ChangeKind.CREATED
                else -> continue
            }
            val file = event.file ?: continue
            if (isWatched(event, file)) running.forEach { it.files.add(file, kind) }
        }
    }

    private fun isWatched(event: VFileEvent, file: VirtualFile) =
        running.isNotEmpty() && event.isFromRefresh && file.isInLocalFileSystem && index.isInContent(file)

    private val index get() = ProjectRootManager.getInstance(project).fileIndex

    /** Returns whether a file with unsaved text has another text on the disk. */
    private fun hasConflict(): Boolean {
        val documents = FileDocumentManager.getInstance()
        val unsaved = documents.unsavedDocuments.mapNotNull(documents::getFile).filter { it.isInLocalFileSystem }
        return unsaved.any { FileOnDisk.isUnsaved(it) && !FileOnDisk.isKnown(it) }
    }

    private companion object {
        /** File systems round times, up to two seconds. */
        const val CLOCK_TOLERANCE_MILLIS = 2_000L
    }
}
