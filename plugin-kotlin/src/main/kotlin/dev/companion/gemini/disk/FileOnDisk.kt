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

    /** What the IDE takes to be there, whatever has become of it on the disk. */
    fun known(path: Path): VirtualFile? = LocalFileSystem.getInstance().findFileByIoFile(path.toFile())

    /** What its user has typed and not saved. */
    fun isUnsaved(file: VirtualFile): Boolean = FileDocumentManager.getInstance().isFileModified(file)

    /** What the disk says of a file, but for its text. */
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
     * The file, if there is one. Never on the EDT, nor under a lock.
     *
     * The VFS is asked to refresh only what differs. While it looks, a file that the user renames is missing at its old
     * path: the VFS then takes it for deleted, and what was typed in it and not saved is gone. Where something is typed
     * it is not asked at all: the platform would have the user say, in a dialog, which of two versions to keep.
     */
    fun find(path: Path): VirtualFile? {
        assertNotEdt()
        val known = known(path) ?: return LocalFileSystem.getInstance().refreshAndFindFileByIoFile(path.toFile())
        if (!isUnsaved(known) && isOutdated(known, path)) known.refresh(false, false)
        return known.takeIf { it.isValid }
    }

    /**
     * The disk is asked without a lock, since it may be a dead one. Only what it has just said to differ is asked again
     * in the lock: a renaming that was under way is over then, and [known] may be another path's.
     */
    private fun isOutdated(known: VirtualFile, path: Path): Boolean {
        val differsStill = Computable { known(path) == known && differs(known, path) }
        return differs(known, path) && ApplicationManager.getApplication().runReadAction(differsStill)
    }

    private fun differs(known: VirtualFile, path: Path): Boolean =
        stamp(path) != Stamp(known.timeStamp, known.length) || Files.isWritable(path) != known.isWritable
}
