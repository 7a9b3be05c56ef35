// Reports that the user has reverted a file in the diff viewer, change by change.

package dev.companion.gemini.changes

import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.event.DocumentEvent
import com.intellij.openapi.editor.event.DocumentListener
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.platform.laterWithoutDialog

/** Compares the text of [file] with the text [before] the prompt after each edit, while the viewer shows it. */
internal class RevertWatch(
    private val project: Project,
    private val service: ChangesService,
    private val rows: List<ChangeRow>,
    private val file: VirtualFile,
    private val document: Document,
    private val before: String,
) : DocumentListener {
    private var isReported = false

    fun follow(isShown: Boolean) =
        if (isShown) document.addDocumentListener(this) else document.removeDocumentListener(this)

    /** Any thread: background write actions also change documents. */
    override fun documentChanged(event: DocumentEvent) = project.laterWithoutDialog(::compare)

    private fun compare() {
        assertEdt()
        val isReverted = before.contentEquals(document.immutableCharSequence)
        if (isReverted == isReported || (isReverted && !save())) return
        isReported = isReverted
        val servers = service.servers(rows)
        if (isReverted) service.reverted(rows, null, servers) else service.revertUndone(rows, null, servers)
    }

    /**
     * Saves the revert, like one by an action: the server forgets a revert if the disk has the CLI's text at the next
     * prompt. Returns false for a text that is on the disk already: an action has saved and reported it, or it is from
     * another program.
     */
    private fun save(): Boolean {
        if (!FileOnDisk.isUnsaved(file)) return false
        FileDocumentManager.getInstance().saveDocumentAsIs(document)
        return !FileOnDisk.isUnsaved(file)
    }
}
