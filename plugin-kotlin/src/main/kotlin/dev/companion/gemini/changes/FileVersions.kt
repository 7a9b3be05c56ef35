// Reads a changed file: its text on the disk and in the editor.

package dev.companion.gemini.changes

import com.intellij.openapi.editor.Document
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.fileTypes.FileType
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VFileProperty
import com.intellij.openapi.vfs.VirtualFile
import dev.companion.gemini.core.FileToRevert
import dev.companion.gemini.core.Hunk
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.disk.OpenedPath
import dev.companion.gemini.target.ShownPath
import dev.companion.gemini.target.Target
import dev.companion.gemini.target.TextForm
import dev.companion.gemini.target.isEmptyOfUnknownType
import dev.companion.gemini.target.read
import java.nio.file.Path

/** A file at a moment, for some of its rows. */
internal class FileVersions private constructor(
    /** From the oldest prompt to the newest. */
    val rows: List<ChangeRow>,
    val path: Path,
    val shownPath: String,
    val type: FileType,
    val file: VirtualFile?,
    val document: Document?,
    /** The text in the IDE; null if there is no file, or no text. */
    val now: CharSequence?,
    /** The unsaved text, in its form on the disk; null if nothing is unsaved. */
    val unsaved: String?,
) {
    /** The text on the disk; null if there is no file. */
    var disk: String? = null
        private set

    /** Why the file can't be reverted: the key of a text. */
    var obstacle: String? = null
        private set

    /** EDT. Whether the IDE still knows the file as it was when the texts were read. */
    fun isCurrent(): Boolean {
        assertEdt()
        // A link may lead to a missing file.
        if (file == null) return FileOnDisk.known(path)?.`is`(VFileProperty.SYMLINK) != false
        if (!file.isValid) return false
        return if (document == null) file.length == 0L else document.immutableCharSequence === now
    }

    /** [hunk] is the only part to revert; null if all. */
    fun toRevert(hunk: Hunk?) = FileToRevert(rows.first().path, rows.map(ChangeRow::prompt), disk, unsaved, hunk)

    private fun readDisk() {
        val file = file ?: return
        if (FileOnDisk.isUnsaved(file) && !FileOnDisk.isKnown(file)) {
            obstacle = "changes.error.conflict"
            return
        }
        disk = FileOnDisk.text(path)
        if (now == null || disk == null) obstacle = "changes.error.binary"
    }

    companion object {
        /** Reads the file. [rows] are those of one file. Not for the EDT, nor under a lock. */
        fun of(project: Project, rows: List<ChangeRow>): FileVersions? {
            assertNotEdt()
            val path = OpenedPath.find(project, rows.first().path) ?: return null
            val file = FileOnDisk.find(path)
            val documents = FileDocumentManager.getInstance()
            val versions = project.read {
                val known = file?.takeIf { it.isValid && !it.isDirectory }
                val document = known?.takeIf { !it.fileType.isBinary }?.let(documents::getDocument)
                val whole = document?.takeIf { !documents.isPartialPreviewOfALargeFile(it) }
                val text = whole?.immutableCharSequence
                val unsaved = text?.takeIf { documents.isFileModified(known) }?.let { TextForm.of(known).apply(it) }
                val isEmpty = known != null && isEmptyOfUnknownType(known)
                val now = if (isEmpty) "" else text
                val type = Target.shownType(known, path)
                FileVersions(rows, path, ShownPath.of(project, path), type, known, whole, now, unsaved)
            }
            if (file?.isDirectory == true) versions.obstacle = "changes.error.folder" else versions.readDisk()
            return versions
        }
    }
}
