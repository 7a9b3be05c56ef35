// Makes the IDE take over a file from the disk, without losing unsaved text.

package dev.companion.gemini.disk

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.util.Computable
import com.intellij.openapi.vfs.LocalFileSystem
import com.intellij.openapi.vfs.VirtualFile
import dev.companion.gemini.core.assertNotEdt
import java.io.IOException
import java.nio.file.Files
import java.nio.file.InvalidPathException
import java.nio.file.Path
import java.nio.file.Paths
import java.nio.file.attribute.BasicFileAttributes

internal object FileOnDisk {
    /** Null if no file of this system can have that path: a server takes any. */
    fun path(path: String): Path? =
        try {
            Paths.get(path)
        } catch (_: InvalidPathException) {
            null
        }

    /** The file as the IDE knows it, whatever its state on the disk. */
    fun known(path: Path): VirtualFile? = LocalFileSystem.getInstance().findFileByIoFile(path.toFile())

    /** Whether it has unsaved changes. */
    fun isUnsaved(file: VirtualFile): Boolean = FileDocumentManager.getInstance().isFileModified(file)

    /** The disk's data on a file, without its text. */
    data class Stamp(
        val modifiedMillis: Long,
        val size: Long,
    )

    /** Null if there is no file. */
    fun stamp(path: Path): Stamp? {
        assertNotEdt()
        return try {
            Files.readAttributes(path, BasicFileAttributes::class.java).run {
                Stamp(lastModifiedTime().toMillis(), size())
            }
        } catch (_: IOException) {
            null
        }
    }

    /** Its bytes; null if it is no regular file, has more than [most], or can't be read. */
    fun bytes(path: Path, most: Long): ByteArray? {
        assertNotEdt()
        return try {
            if (Files.isRegularFile(path) && Files.size(path) <= most) Files.readAllBytes(path) else null
        } catch (_: IOException) {
            null
        }
    }

    /**
     * The file, if it exists. Never on the EDT, nor under a lock.
     *
     * The VFS refreshes only differing files. During a refresh, a file that the user renames is
     * missing at its old path: the VFS would take it for deleted and lose its unsaved changes. A
     * file with unsaved changes is not refreshed: the platform would ask the user, in a dialog,
     * which version to keep.
     */
    fun find(path: Path): VirtualFile? {
        assertNotEdt()
        val known = known(path) ?: return LocalFileSystem.getInstance().refreshAndFindFileByIoFile(path.toFile())
        if (!isUnsaved(known) && isOutdated(known, path)) known.refresh(false, false)
        return known.takeIf { it.isValid }
    }

    /**
     * Reads the disk without a lock, since it may be dead. Only a difference is checked again in
     * the lock: a concurrent renaming is then over, and [known] may have another path.
     */
    private fun isOutdated(known: VirtualFile, path: Path): Boolean {
        val differsStill = Computable { known(path) == known && differs(known, path) }
        return differs(known, path) && ApplicationManager.getApplication().runReadAction(differsStill)
    }

    private fun differs(known: VirtualFile, path: Path): Boolean =
        stamp(path) != Stamp(known.timeStamp, known.length) || Files.isWritable(path) != known.isWritable
}
