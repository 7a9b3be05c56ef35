// Finds the files that change while a shell command of a CLI runs, by the IDE's own file watching.

package dev.companion.gemini.changes

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.ModalityState
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
import com.intellij.util.messages.MessageBusConnection
import dev.companion.gemini.context.systemPath
import dev.companion.gemini.core.AgentCommand
import dev.companion.gemini.core.ChangeKind
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.disk.FileOnDisk
import java.io.IOException
import java.nio.file.Files
import java.nio.file.LinkOption
import java.nio.file.Path
import java.nio.file.attribute.FileTime

/**
 * Lists files of the project's content that a program other than the IDE changed. Two programs that write at the same
 * time can't be told apart. A deletion is counted even if it is older than the command, because nothing has its time.
 *
 * For the EDT. [report] is called on any thread.
 */
internal class CommandWatch(
    private val project: Project,
    private val report: (CompanionCore, AgentCommand, List<OtherFile>) -> Unit,
) : BulkFileListener {
    private class Running(
        val core: CompanionCore,
        val command: AgentCommand,
        /** Milliseconds since 1970. */
        val since: Long,
    ) {
        val found = LinkedHashMap<String, ChangeKind>()
    }

    private val running = HashMap<PromptKey, Running>()
    private var connection: MessageBusConnection? = null

    fun started(core: CompanionCore, command: AgentCommand, now: Long) {
        assertEdt()
        val key = command.key
        // The end of an earlier prompt's command was lost, because one session has one prompt at a time.
        running.keys.filter { it.session == key.session && it != key }.forEach(::forget)
        if (running[key]?.core !== core) running[key] = Running(core, command, now)
        if (connection != null) return
        connection = project.messageBus.connect().also { it.subscribe(VirtualFileManager.VFS_CHANGES, this) }
    }

    /** Reports the files once the IDE has looked at the project's files. */
    fun ended(key: PromptKey) {
        assertEdt()
        val ended = running[key] ?: return
        val roots = roots()
        ApplicationManager.getApplication().executeOnPooledThread {
            val finish = Runnable {
                val work = { finish(ended) }
                ApplicationManager.getApplication().invokeLater(work, ModalityState.any(), project.disposed)
            }
            // The platform would ask the user about a conflict, in a dialog, and does so when the user comes back.
            if (hasConflict()) finish.run() else LocalFileSystem.getInstance().refreshFiles(roots, true, true, finish)
        }
    }

    /** Forgets the commands of servers that have ended. */
    fun forgetClosed() {
        assertEdt()
        running.filterValues { it.core.isClosed }.keys.forEach(::forget)
    }

    private fun forget(key: PromptKey) {
        running -= key
        if (running.isEmpty()) dispose()
    }

    fun dispose() {
        connection?.disconnect()
        connection = null
    }

    private fun finish(ended: Running) {
        val key = ended.command.key
        if (running[key] !== ended) return
        forget(key)
        if (ended.found.isEmpty()) return
        val found = ended.found.toMap()
        ApplicationManager.getApplication().executeOnPooledThread {
            val since = ended.since - CLOCK_TOLERANCE_MILLIS
            val files = found.mapNotNull { (path, kind) -> file(path, kind, since) }
            report(ended.core, ended.command, files)
        }
    }

    /** Returns null if the file did not change after [since]. */
    private fun file(path: String, kind: ChangeKind, since: Long): OtherFile? {
        assertNotEdt()
        val file = FileOnDisk.path(path) ?: return null
        val changed = lastChange(file)
        if (changed == null) return OtherFile(real(file), ChangeKind.DELETED)
        if (changed < since) return null
        return OtherFile(real(file), if (kind == ChangeKind.DELETED) ChangeKind.CHANGED else kind)
    }

    /** Returns the path as a CLI writes it, which names files by their real paths. */
    private fun real(path: Path): String =
        try {
            path.parent.toRealPath().resolve(path.fileName).toString()
        } catch (_: IOException) {
            path.toString()
        }

    /** A moved or unpacked file keeps its old modification time, so the time of its entry counts too. */
    private fun lastChange(path: Path): Long? {
        for (attributes in listOf("unix:lastModifiedTime,ctime", "lastModifiedTime,creationTime")) {
            try {
                val times = Files.readAttributes(path, attributes, LinkOption.NOFOLLOW_LINKS).values
                return times.filterIsInstance<FileTime>().maxOf { it.toMillis() }
            } catch (_: UnsupportedOperationException) {
                // Windows has no such view.
            } catch (_: IOException) {
                return null
            }
        }
        return null
    }

    /** Before a deletion, because the index does not know a deleted file. */
    override fun before(events: List<VFileEvent>) {
        for (event in events) {
            if (event is VFileDeleteEvent) found(event, event.file, ChangeKind.DELETED)
        }
    }

    override fun after(events: List<VFileEvent>) {
        for (event in events) {
            when (event) {
                is VFileContentChangeEvent -> found(event, event.file, ChangeKind.CHANGED)
                is VFileCreateEvent -> found(event, event.file, ChangeKind.CREATED)
            }
        }
    }

    private fun found(event: VFileEvent, file: VirtualFile?, kind: ChangeKind) {
        if (file == null || !event.isFromRefresh || !file.isInLocalFileSystem) return
        if (!ProjectRootManager.getInstance(project).fileIndex.isInContent(file)) return
        for (command in running.values) {
            if (command.found.size < MAX_FILES) command.found.merge(systemPath(file), kind, ::merged)
        }
    }

    private fun merged(first: ChangeKind, last: ChangeKind) =
        when {
            first == ChangeKind.CREATED && last == ChangeKind.CHANGED -> first
            first == ChangeKind.DELETED && last == ChangeKind.CREATED -> ChangeKind.CHANGED
            else -> last
        }

    private fun roots(): List<VirtualFile> =
        ProjectRootManager.getInstance(project).contentRoots.filter { it.isInLocalFileSystem }

    /** Returns whether a file with unsaved text has another text on the disk. */
    private fun hasConflict(): Boolean {
        val documents = FileDocumentManager.getInstance()
        val unsaved = documents.unsavedDocuments.mapNotNull(documents::getFile).filter { it.isInLocalFileSystem }
        return unsaved.any { FileOnDisk.isUnsaved(it) && !FileOnDisk.isKnown(it) }
    }

    private companion object {
        /** File systems round times, up to two seconds. */
        const val CLOCK_TOLERANCE_MILLIS = 2_000L

        /** The most files of one command. */
        const val MAX_FILES = 10_000
    }
}
