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
import java.nio.file.Path

/** The files of one command. Folders are not listed, but their files. */
internal class CommandFiles {
    private val kinds = LinkedHashMap<String, ChangeKind>()

    /** The platform reports a new folder alone. */
    private val newFolders = LinkedHashSet<VirtualFile>()

    val isEmpty: Boolean get() = kinds.isEmpty() && newFolders.isEmpty()

    fun changed(file: VirtualFile) {
        assertEdt()
        if (!file.isDirectory) add(systemPath(file), ChangeKind.CHANGED)
    }

    fun created(file: VirtualFile) {
        assertEdt()
        if (isFolder(file)) newFolders += file else add(systemPath(file), ChangeKind.CREATED)
    }

    /** Before the deletion. [files] are those of [filesOf]. */
    fun deleted(files: List<String>) {
        assertEdt()
        for (file in files) add(file, ChangeKind.DELETED)
    }

    private fun add(path: String, kind: ChangeKind) {
        if (kinds.size >= MAX_FILES && path !in kinds) return
        val before = kinds.remove(path)
        val now = if (before == null) kind else ChangeList.merged(before, kind)
        now?.let { kinds[path] = it }
    }

    /** Returns the files that changed after [since], in milliseconds since 1970. Not for the EDT. */
    fun since(since: Long, index: ProjectFileIndex): List<OtherFile> {
        assertNotEdt()
        val files = LinkedHashMap<String, OtherFile>()
        for ((path, kind) in kinds) file(path, kind, since)?.let { files[path] = it }
        for (folder in newFolders) {
            val isMoved = isMoved(folder, since)
            val left = MAX_FILES - files.size
            if (left > 0) {
                content(folder, index, left).forEach { path ->
                    val kind = kinds[path] ?: ChangeKind.CREATED
                    file(path, kind, if (isMoved) Long.MIN_VALUE else since)?.let { files[path] = it }
                }
            }
        }
        return files.values.toList()
    }

    /** Whether the folder was moved to its place as it is: its files keep all their times. */
    private fun isMoved(folder: VirtualFile, since: Long): Boolean {
        val path = FileOnDisk.path(systemPath(folder)) ?: return false
        val (entry, content) = Pair(FileTimes.lastChange(path), FileTimes.lastModified(path))
        return entry != null && content != null && content < since && since <= entry
    }

    private fun content(folder: VirtualFile, index: ProjectFileIndex, most: Int): List<String> {
        val files = ArrayList<String>()
        if (!folder.isValid) return files
        index.iterateContentUnderDirectory(folder) { file ->
            if (!isFolder(file)) files += systemPath(file)
            files.size < most
        }
        return files
    }

    /** Returns null if the file did not change after [since]. */
    private fun file(path: String, kind: ChangeKind, since: Long): OtherFile? {
        val file = FileOnDisk.path(path) ?: return null
        if (Files.notExists(file, LinkOption.NOFOLLOW_LINKS)) {
            return if (kind == ChangeKind.CREATED) null else OtherFile(real(file), ChangeKind.DELETED)
        }
        val changed = FileTimes.lastChange(file)
        if (changed != null && changed < since) return null
        return OtherFile(real(file), if (kind == ChangeKind.DELETED) ChangeKind.CHANGED else kind)
    }

    /** Returns the path as a CLI writes it, which names files by their real paths. */
    private fun real(path: Path): String {
        var folder = path.parent
        while (folder != null) {
            val real = OpenedPath.realPath(folder)
            if (real != null) return real.resolve(folder.relativize(path)).toString()
            // The command has deleted the folder.
            folder = folder.parent
        }
        return path.toString()
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
