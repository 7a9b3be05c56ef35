// Collects the files that change while a shell command runs.

package dev.companion.gemini.changes

import com.intellij.openapi.roots.ProjectFileIndex
import com.intellij.openapi.vfs.VFileProperty
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.vfs.newvfs.NewVirtualFile
import dev.companion.gemini.core.ChangeKind
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.disk.FileTimes
import dev.companion.gemini.disk.OpenedPath
import dev.companion.gemini.disk.systemPath
import java.nio.file.Files
import java.nio.file.LinkOption

/** The files of one command. Folders are not listed, but their files. */
internal class CommandFiles {
    private val kinds = LinkedHashMap<String, ChangeKind>()

    /** The platform reports a new folder alone. */
    private val newFolders = LinkedHashSet<VirtualFile>()

    val isEmpty: Boolean get() = kinds.isEmpty() && newFolders.isEmpty()

    /** [file] has been changed or created. */
    fun add(file: VirtualFile, kind: ChangeKind) {
        assertEdt()
        when {
            !isFolder(file) -> add(systemPath(file), kind)
            kind == ChangeKind.CREATED -> newFolders += file
        }
    }

    /** Before the deletion. [files] are those of [filesOf]. */
    fun deleted(files: List<String>) {
        assertEdt()
        for (file in files) add(file, ChangeKind.DELETED)
    }

    private fun add(path: String, kind: ChangeKind) {
        if (kinds.size < MAX_FILES || path in kinds) kinds.merge(path, kind, ChangeKind::then)
    }

    /** Returns the files that changed after [since], in milliseconds since 1970. Not for the EDT. */
    fun since(since: Long, index: ProjectFileIndex): Map<String, ChangeKind> {
        assertNotEdt()
        val files = LinkedHashMap<String, ChangeKind>()
        for ((path, kind) in kinds) add(files, path, kind, since)
        for (folder in newFolders) {
            val start = if (isMoved(folder, since)) Long.MIN_VALUE else since
            for (path in content(folder, index, MAX_FILES - files.size)) {
                add(files, path, kinds[path] ?: ChangeKind.CREATED, start)
            }
        }
        return files
    }

    /** Whether the folder was moved to its place as it is: its files keep all their times. */
    private fun isMoved(folder: VirtualFile, since: Long): Boolean {
        val path = FileOnDisk.path(systemPath(folder)) ?: return false
        val (entry, content) = Pair(FileTimes.lastChange(path), FileTimes.lastModified(path))
        return entry != null && content != null && content < since && since <= entry
    }

    private fun content(folder: VirtualFile, index: ProjectFileIndex, most: Int): List<String> {
        val files = ArrayList<String>()
        if (!folder.isValid || most <= 0) return files
        index.iterateContentUnderDirectory(folder) { file ->
            if (!isFolder(file)) files += systemPath(file)
            files.size < most
        }
        return files
    }

    /** Adds a file to [files], unless it did not change after [since]. */
    private fun add(files: MutableMap<String, ChangeKind>, path: String, kind: ChangeKind, since: Long) {
        val file = FileOnDisk.path(path) ?: return
        if (Files.notExists(file, LinkOption.NOFOLLOW_LINKS)) {
            if (kind != ChangeKind.CREATED) files[OpenedPath.real(file).toString()] = ChangeKind.DELETED
            return
        }
        val changed = FileTimes.lastChange(file)
        if (changed != null && changed < since) return
        files[OpenedPath.real(file).toString()] = if (kind == ChangeKind.DELETED) ChangeKind.CHANGED else kind
    }

    companion object {
        /** The most files of one command. */
        private const val MAX_FILES = 10_000

        /** A link to a folder is a file of its own. */
        private fun isFolder(file: VirtualFile) = file.isDirectory && !file.`is`(VFileProperty.SYMLINK)

        /** Returns the paths of a file, or of all files in a folder, as far as the IDE knows them. EDT. */
        fun filesOf(file: VirtualFile, index: ProjectFileIndex): List<String> {
            assertEdt()
            if (!isFolder(file)) return listOf(systemPath(file))
            val files = ArrayList<String>()
            val folders = arrayListOf(file)
            while (folders.isNotEmpty() && files.size < MAX_FILES) {
                val folder = folders.removeLast() as? NewVirtualFile ?: continue
                for (child in folder.iterInDbChildren()) {
                    when {
                        !index.isInContent(child) -> Unit
                        isFolder(child) -> folders += child
                        else -> files += systemPath(child)
                    }
                }
            }
            return files
        }
    }
}
