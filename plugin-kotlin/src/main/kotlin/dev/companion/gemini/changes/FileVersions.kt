// Compares three texts of a changed file: before the prompt, as the CLI left it, and now.

package dev.companion.gemini.changes

import com.intellij.openapi.editor.Document
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.fileTypes.FileType
import com.intellij.openapi.fileTypes.FileTypeManager
import com.intellij.openapi.fileTypes.PlainTextFileType
import com.intellij.openapi.fileTypes.UnknownFileType
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.target.ShownPath
import dev.companion.gemini.target.TextForm
import dev.companion.gemini.target.read
import java.nio.file.Path

/** A file, for some of its rows: the text before the first, and as the CLI left it in the last. */
internal class FileVersions private constructor(
    /** From the oldest prompt to the newest. */
    val rows: List<ChangeRow>,
    val path: Path,
    val shownPath: String,
    val type: FileType,
    /** The text before, as on the disk; null if there was no file. */
    val before: String?,
    /** The text as the CLI left it, as on the disk; null if it deleted the file. */
    val after: String?,
    val file: VirtualFile?,
    val document: Document?,
    /** The text now; null if there is no file. */
    val now: CharSequence?,
    /** Whether nothing but the CLI changed the file between the first row and the last. */
    private val isContinuous: Boolean,
) {
    /** Whether the file has unsaved text, and the disk has a change that the IDE has not read. */
    private var hasConflict = false

    /** Why the file can't be reverted: the key of a text. */
    val obstacle: String?
        get() = when {
            file != null && document == null -> "changes.error.binary"
            hasConflict -> "changes.error.conflict"
            else -> null
        }

    /** Whether the file has the text that the CLI left. */
    private val isAfter = isNow(after)

    /** Whether a revert would change nothing. */
    val isAsBefore = isNow(before)

    /** Whether the line endings and the BOM stay in a revert. A document can't undo a change of them. */
    val keepsForm: Boolean = before == null || hasForm(before)

    /** Whether a revert may lose a change that is not the CLI's. Another prompt's changes are not considered. */
    val isChangedSince: Boolean = !isAfter || !isContinuous || rows.any { it.edit?.mixed == true }

    /** Whether the text now has the form of [raw]; null means no file. */
    private fun isNow(raw: String?): Boolean {
        if (raw == null || now == null) return raw == null && file == null
        return TextForm.plain(raw).contentEquals(now) && hasForm(raw)
    }

    /** Whether the file has the line endings and the BOM of [raw], as far as the text has one form. */
    private fun hasForm(raw: String): Boolean {
        val file = file ?: return true
        val form = TextForm.of(raw)
        val isMixed = form.lineEnding == "\r\n" && raw.replace("\r\n", "").any { it == '\n' || it == '\r' }
        val hasBom = file.bom?.contentEquals(TextForm.UTF8_BOM) == true
        val lineEnding = file.detectedLineSeparator?.takeIf { !isMixed && '\n' in now.toString() }
        return hasBom == form.bom && (lineEnding == null || lineEnding == form.lineEnding)
    }

    /** EDT. Whether the file is still as it was when the texts were compared. */
    fun isCurrent(): Boolean {
        assertEdt()
        if (file == null) return FileOnDisk.known(path)?.isValid != true
        return file.isValid && (document == null || document.immutableCharSequence === now)
    }

    companion object {
        /**
         * Reads the texts from the server, and the file. Returns null if the server does not keep the texts. [rows] are
         * those of one file, from the oldest prompt to the newest. Not for the EDT, nor under a lock.
         */
        fun of(project: Project, service: ChangesService, rows: List<ChangeRow>): FileVersions? {
            assertNotEdt()
            val texts = rows.map { service.texts(it) ?: return null }
            val path = FilesOnDisk.opened(project, rows.first().path) ?: return null
            val file = FileOnDisk.find(path)
            val documents = FileDocumentManager.getInstance()
            val versions = project.read {
                val known = file?.takeIf { it.isValid && !it.isDirectory }
                val document = known?.takeIf { !it.fileType.isBinary }?.let(documents::getDocument)
                val whole = document?.takeIf { !documents.isPartialPreviewOfALargeFile(it) }
                FileVersions(
                    rows,
                    path,
                    ShownPath.of(project, path),
                    type(known, path),
                    texts.first().before,
                    texts.last().after,
                    known,
                    whole,
                    whole?.immutableCharSequence,
                    texts.zipWithNext().all { (older, newer) -> older.after == newer.before },
                )
            }
            versions.hasConflict = versions.file?.let { FileOnDisk.isUnsaved(it) && !FileOnDisk.isKnown(it) } == true
            return versions
        }

        private fun type(file: VirtualFile?, path: Path): FileType {
            val type = file?.fileType ?: FileTypeManager.getInstance().getFileTypeByFileName(path.fileName.toString())
            return if (type === UnknownFileType.INSTANCE) PlainTextFileType.INSTANCE else type
        }
    }
}
