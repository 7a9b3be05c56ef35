// Reads and creates files on the disk, and makes the IDE load changes without losing unsaved text.

package dev.companion.gemini.disk

import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.util.io.FileSystemUtil
import com.intellij.openapi.vfs.LocalFileSystem
import com.intellij.openapi.vfs.VFileProperty
import com.intellij.openapi.vfs.VfsUtil
import com.intellij.openapi.vfs.VirtualFile
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.platform.after
import dev.companion.gemini.platform.reading
import java.io.IOException
import java.nio.file.Files
import java.nio.file.InvalidPathException
import java.nio.file.Path
import java.nio.file.Paths
import java.nio.file.attribute.BasicFileAttributes

internal object FileOnDisk {
    private const val MAX_BYTES = 64L shl 20

    /** The most links that lead to one file, as in Linux. */
    private const val MAX_LINKS = 40
    private val REFRESH_AFTER_MILLIS = longArrayOf(100, 300, 1_000, 2_000, 3_000, 5_000, 10_000)

    /** Returns null if no file of this system can have that absolute path. A server accepts any path. */
    fun path(path: String): Path? =
        try {
            Paths.get(path).takeIf { it.isAbsolute && it.fileName != null }
        } catch (_: InvalidPathException) {
            null
        }

    /** Returns the file or folder as the IDE knows it, without a look at the disk. Any thread. */
    fun known(path: Path): VirtualFile? = LocalFileSystem.getInstance().findFileByPathIfCached(idePath(path.toString()))

    /** Returns whether the file has unsaved changes. */
    fun isUnsaved(file: VirtualFile): Boolean = FileDocumentManager.getInstance().isFileModified(file)

    /** The metadata of a file on the disk. */
    data class Stamp(
        val modifiedMillis: Long,
        val size: Long,
    )

    /** Returns null if the file does not exist. */
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

    /** Returns the bytes; null if it is not a regular file, has more than [most] bytes, or can't be read. */
    fun bytes(path: Path, most: Long): ByteArray? {
        assertNotEdt()
        return try {
            if (Files.isRegularFile(path) && Files.size(path) <= most) Files.readAllBytes(path) else null
        } catch (_: IOException) {
            null
        }
    }

    /** Returns the text as a CLI reads it, which is always UTF-8; null for a file of more than 64 MB, see [bytes]. */
    fun text(path: Path): String? = bytes(path, MAX_BYTES)?.toString(Charsets.UTF_8)

    /**
     * Creates a file and its folders, and for a link the missing file where it leads. Throws an [IOException] if the
     * file has appeared meanwhile: the platform would overwrite it. Call it in a write command.
     */
    fun create(path: Path, text: String): VirtualFile {
        val real = real(path)
        if (Files.exists(real)) throw IOException(message("diff.error.exists"))
        val folder = VfsUtil.createDirectories(real.parent.toString())
        val file = try {
            folder.createChildData(this, real.fileName.toString())
        } catch (e: RuntimeException) {
            // A listener of another plugin fails or cancels once the file exists. It must not stay empty.
            known(real)?.setBinaryContent(text.toByteArray())
            throw e
        }
        return file.apply { setBinaryContent(text.toByteArray()) }
    }

    /** Returns where [path] leads, also if no file is there; a link if there are too many. */
    private fun real(path: Path): Path =
        generateSequence(path) { link ->
            link.takeIf(Files::isSymbolicLink)?.let { OpenedPath.real(it.resolveSibling(Files.readSymbolicLink(it))) }
        }.take(MAX_LINKS).last()

    /**
     * Returns the file, if it exists; null for a link to a missing one. Never call it on the EDT, nor under a lock.
     *
     * The VFS refreshes only differing files. During a refresh, a file that the user renames is missing at its old
     * path: the VFS would consider it deleted and lose its unsaved changes. A file with unsaved changes is not
     * refreshed, because the platform would ask the user, in a dialog, which version to keep.
     */
    fun find(path: Path): VirtualFile? {
        assertNotEdt()
        val known = known(path)
            ?: LocalFileSystem.getInstance().refreshAndFindFileByIoFile(path.toFile())
            ?: return null
        if (!isUnsaved(known) && isOutdated(known, path)) known.refresh(false, false)
        val missing = if (known.`is`(VFileProperty.SYMLINK) && Files.notExists(path)) real(path) else null
        // The IDE creates no file that it still knows.
        if (missing != null && !Files.isSymbolicLink(missing)) find(missing)
        return known.takeIf { it.isValid && missing == null }
    }

    /**
     * Refreshes a file a few times, because a CLI writes it a moment after it receives the acceptance. The IDE's file
     * watcher reports later changes. Any thread.
     */
    fun refreshSoon(path: Path) {
        for (millis in REFRESH_AFTER_MILLIS) after(millis) { find(path) }
    }

    /**
     * Reads the disk without a lock, because the disk may not answer. Only a difference is checked again under the
     * lock: a concurrent renaming is then complete, and [known] may have another path.
     */
    private fun isOutdated(known: VirtualFile, path: Path): Boolean =
        differs(known, path) && reading { known(path) == known && differs(known, path) }

    /** Returns whether the IDE knows the file as it is on the disk, apart from unsaved changes. */
    fun isKnown(file: VirtualFile): Boolean = path(file.path)?.let { !differs(file, it) } == true

    /**
     * Asks the platform whether the file is writable. On Windows it reads only the attribute of the file, whereas
     * [Files.isWritable] also checks permissions, and says no for writable files of network shares.
     */
    private fun differs(known: VirtualFile, path: Path): Boolean =
        stamp(path) != Stamp(known.timeStamp, known.length) ||
            FileSystemUtil.getAttributes(path.toString())?.isWritable != known.isWritable
}
