// Examines the file of a proposal: whether the IDE can show it, and as which text.

package dev.companion.gemini.target

import com.intellij.openapi.editor.Document
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.fileTypes.FileType
import com.intellij.openapi.fileTypes.FileTypeManager
import com.intellij.openapi.fileTypes.PlainTextFileType
import com.intellij.openapi.fileTypes.UnknownFileType
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VFileProperty
import com.intellij.openapi.vfs.VirtualFile
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.disk.OpenedPath
import dev.companion.gemini.platform.ifOpen
import java.nio.file.Files
import java.nio.file.Path

/** Reports that a proposal can't be shown. Gemini CLI shows the message to its user. */
internal class TargetException(message: String) : Exception(message)

/** Runs [look] in a read action, if the project has not ended. */
internal fun <T : Any> Project.read(look: () -> T): T =
    ifOpen(look) ?: throw TargetException(message("diff.error.closed"))

/**
 * Whether the IDE calls [file] binary only because it is empty: its name has no type, and there is no content that
 * could have one. The IDE makes no document for such a file.
 */
internal fun isEmptyOfUnknownType(file: VirtualFile) = file.length == 0L && file.fileType === UnknownFileType.INSTANCE

/**
 * A text file, existing or new. [file] is null while it does not exist. Then its live [document] is null, too, as for a
 * file that [isEmptyOfUnknownType].
 */
internal class Target private constructor(
    val path: Path,
    val type: FileType,
    val file: VirtualFile?,
    val document: Document?,
    val stamp: FileOnDisk.Stamp?,
    val outside: Boolean,
) {
    /** Whether it has bytes that are invalid in UTF-8, although the IDE reads it as UTF-8. */
    private var isGarbled = false

    private val place = file?.path

    /** Whether the file is still where it was found. A look on the disk comes up to a second later. */
    val isInPlace: Boolean get() = file != null && file.isValid && file.path == place

    /** Whether a file is where there was none. A link may still lead to a missing one. */
    val isCreated: Boolean
        get() {
            val known = FileOnDisk.known(path)?.takeIf { file == null } ?: return false
            return !known.isDirectory && !known.`is`(VFileProperty.SYMLINK)
        }

    /** The text in the IDE; null if there is no file. */
    val text: CharSequence? get() = document?.immutableCharSequence ?: "".takeIf { file != null }

    /** Returns the form on the disk. Missing properties are taken from [proposed]. */
    fun form(proposed: TextForm): TextForm = file?.let { TextForm.of(it, proposed.lineEnding) } ?: proposed

    /**
     * Returns whether the CLI reads or writes the file differently from the IDE. For the CLI every file is UTF-8, and
     * invalid bytes become U+FFFD. [proposed] is the text to write. Encodes both texts, so don't call it on the EDT.
     */
    fun isRecoded(proposed: CharSequence): Boolean {
        assertNotEdt()
        val texts = listOfNotNull(proposed, text)
        return isGarbled || (file != null && texts.any { TextForm.isRecoded(file, it) })
    }

    companion object {
        /** Reads the disk and loads the file, so never call it on the EDT, nor under a lock. */
        fun find(project: Project, filePath: String): Target {
            assertNotEdt()
            val opened = OpenedPath.of(project, FileOnDisk.path(filePath) ?: refuse("diff.error.path", filePath))
            val path = opened.path
            if (Files.isDirectory(path)) refuse("diff.error.directory", filePath)
            // Reading a FIFO or a device may never end.
            if (Files.exists(path) && !Files.isRegularFile(path)) refuse("diff.error.notFile", filePath)
            val stamp = FileOnDisk.stamp(path)
            val file = FileOnDisk.find(path)
            if (file == null && Files.exists(path)) refuse("diff.error.notFile", filePath)
            val target = project.read { look(path, file?.takeIf { it.isValid }, stamp, opened.isOutside) }
            val text = target.text ?: ""
            target.isGarbled = REPLACED in text && !isUtf8(path, text.length)
            return target
        }

        private fun look(path: Path, file: VirtualFile?, stamp: FileOnDisk.Stamp?, outside: Boolean): Target {
            val type = shownType(file, path)
            val document = file?.let { document(it, path) }
            if (document == null && type.isBinary) binary(path)
            return Target(path, type, file, document, stamp, outside)
        }

        /** Returns the type in which the IDE shows a file, also one that does not exist. */
        fun shownType(file: VirtualFile?, path: Path): FileType {
            val type = file?.fileType ?: FileTypeManager.getInstance().getFileTypeByFileName(path.fileName.toString())
            return if (type === UnknownFileType.INSTANCE) PlainTextFileType.INSTANCE else type
        }

        /** The character for bytes that are not UTF-8, in an editor and in the CLI. */
        private const val REPLACED = '\uFFFD'

        /** Returns true if the file can't be read now or has another length, because it may be UTF-8. */
        private fun isUtf8(path: Path, length: Int): Boolean {
            val bytes = FileOnDisk.bytes(path, MAX_BYTES_OF_CHARACTER * (length + 1L)) ?: return true
            return bytes.contentEquals(bytes.toString(Charsets.UTF_8).toByteArray())
        }

        private const val MAX_BYTES_OF_CHARACTER = 3

        private fun document(file: VirtualFile, path: Path): Document? {
            if (isEmptyOfUnknownType(file)) return null
            if (file.fileType.isBinary) binary(path)
            val documents = FileDocumentManager.getInstance()
            val document = documents.getDocument(file) ?: binary(path)
            if (documents.isPartialPreviewOfALargeFile(document)) refuse("diff.error.large", path)
            return document
        }

        private fun binary(path: Path): Nothing = refuse("diff.error.binary", path)

        private fun refuse(key: String, path: Any): Nothing = throw TargetException(message(key, path.toString()))
    }
}
