// Reports a project's open files, focus, caret and selection to a server, and files that are renamed, moved or deleted.

package dev.companion.gemini.context

import com.intellij.openapi.Disposable
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.EditorFactory
import com.intellij.openapi.editor.event.CaretEvent
import com.intellij.openapi.editor.event.CaretListener
import com.intellij.openapi.editor.event.DocumentEvent
import com.intellij.openapi.editor.event.SelectionEvent
import com.intellij.openapi.editor.event.SelectionListener
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.fileEditor.FileEditor
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.FileEditorManagerEvent
import com.intellij.openapi.fileEditor.FileEditorManagerListener
import com.intellij.openapi.fileEditor.TextEditor
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.vfs.VirtualFileManager
import com.intellij.openapi.vfs.newvfs.BulkFileListener
import com.intellij.openapi.vfs.newvfs.events.VFileDeleteEvent
import com.intellij.openapi.vfs.newvfs.events.VFileEvent
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.MAX_SELECTION
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.RenamedFile
import dev.companion.gemini.disk.systemPath
import dev.companion.gemini.platform.documentListener
import dev.companion.gemini.platform.later
import dev.companion.gemini.platform.reading
import java.awt.EventQueue
import javax.swing.SwingUtilities

/**
 * Reports a project's editor events to a core.
 *
 * Only local files count. While another tab has the focus, such as a diff, the last file remains
 * the focused one.
 */
class EditorContext(
    private val project: Project,
    val core: CompanionCore,
    /** The file that had the focus last while another server ran. */
    private val formerFile: VirtualFile? = null,
) : Disposable {
    /** The tab that was selected last. */
    private var focus: Focus? = null

    /** The file that had the focus last. */
    val focusedFile: VirtualFile? get() = focus?.file

    /** Whether the caret and the selection will be sent after the current events. */
    private var caretPending = false

    /** EDT. Reports the open files, then all changes, until disposed. */
    fun start() {
        assertEdt()
        val application = ApplicationManager.getApplication()
        project.messageBus.connect(this).subscribe(FileEditorManagerListener.FILE_EDITOR_MANAGER, Tabs())
        application.messageBus.connect(this).subscribe(VirtualFileManager.VFS_CHANGES, FileChanges(core))
        val editors = EditorFactory.getInstance().eventMulticaster
        editors.addCaretListener(Carets(), this)
        editors.addSelectionListener(Selections(), this)
        editors.addDocumentListener(documentListener(::documentChanged), this)
        sendOpenFiles()
    }

    override fun dispose() {
        focus = null
    }

    /** EDT. Empties the context of CLIs. */
    fun forgetFiles() =
        FileEditorManager.getInstance(project).openFiles.filter { it.isInLocalFileSystem }.forEach {
            core.send(ServerMessage.Closed(systemPath(it)))
        }

    /** Sends visible files first, because a file that is sent earlier counts as used more recently. */
    private fun sendOpenFiles() {
        val manager = FileEditorManager.getInstance(project)
        val selected = manager.selectedFiles
        for (file in linkedSetOf(*selected, *manager.openFiles)) {
            if (file.isInLocalFileSystem) core.send(ServerMessage.Opened(systemPath(file)))
        }
        val last = selected.find { it.isInLocalFileSystem } ?: formerFile?.takeIf(manager::isFileOpen)
        last?.let { focused(it, editorOf(manager.getSelectedEditor(it))) }
    }

    private fun editorOf(fileEditor: FileEditor?) = (fileEditor as? TextEditor)?.editor

    private fun focused(file: VirtualFile, editor: Editor?) {
        assertEdt()
        if (!file.isInLocalFileSystem) return
        focus = Focus(file, editor)
        core.send(ServerMessage.Focused(systemPath(file)))
        sendCaretLater()
    }

    /** Today's platform sends no event if a window of its own gets the focus, so the first caret that moves there does. */
    private fun caretOrSelectionChanged(editor: Editor) {
        if (editor === focus?.editor) {
            sendCaretLater()
        } else if (editor === FileEditorManager.getInstance(project).selectedTextEditor) {
            FileDocumentManager.getInstance().getFile(editor.document)?.let { focused(it, editor) }
        }
    }

    /** Any thread. The text of the selection or before the caret may change while caret and selection stay. */
    private fun documentChanged(event: DocumentEvent) {
        val look = { if (event.document === focus?.editor?.document) sendCaretLater() }
        if (EventQueue.isDispatchThread()) look() else project.later(look)
    }

    /**
     * Sends the caret once for the many events of a keystroke, a drag or a change in many places. During these events
     * the primary caret is not settled, and in a bulk update the offsets are invalid.
     *
     * Swing's own queue, because the platform's drops what waits if a dialog opens, or if it cancels the event's work.
     * Then [caretPending] would stay, and no later caret would be sent. Today's IDEs have no lock in Swing's events.
     */
    private fun sendCaretLater() {
        assertEdt()
        if (caretPending) return
        caretPending = true
        SwingUtilities.invokeLater {
            caretPending = false
            reading(::sendCaret)
        }
    }

    private fun sendCaret() {
        val focus = focus ?: return
        val editor = focus.editor ?: return
        if (editor.isDisposed) return
        val document = editor.document
        val caret = editor.caretModel.primaryCaret
        val offset = caret.offset
        val line = document.getLineNumber(offset)
        val path = systemPath(focus.file)
        core.send(ServerMessage.Cursor(path, line + 1, offset - document.getLineStartOffset(line) + 1))
        core.send(ServerMessage.Selection(path, text(document, caret.selectionStart, caret.selectionEnd)))
    }

    /** Returns at most as much text as the CLI receives, without half a surrogate pair at the end. */
    private fun text(document: Document, start: Int, end: Int): String {
        if (start == end) return ""
        val all = document.immutableCharSequence
        var cut = minOf(end, start + MAX_SELECTION)
        if (cut < end && all[cut - 1].isHighSurrogate()) cut--
        return all.subSequence(start, cut).toString()
    }

    private class Focus(
        val file: VirtualFile,
        val editor: Editor?,
    )

    /** Some of these events wait until the focus has settled. The file may be closed by then. */
    private inner class Tabs : FileEditorManagerListener {
        override fun fileOpened(source: FileEditorManager, file: VirtualFile) {
            if (file.isInLocalFileSystem) core.send(ServerMessage.Opened(systemPath(file)))
        }

        override fun fileClosed(source: FileEditorManager, file: VirtualFile) {
            if (source.isFileOpen(file)) return // the file is open in another split
            if (focus?.file == file) focus = null
            if (file.isInLocalFileSystem) core.send(ServerMessage.Closed(systemPath(file)))
        }

        override fun selectionChanged(event: FileEditorManagerEvent) {
            val file = event.newFile ?: return
            // A delayed event may arrive after the event of a later selection.
            if (file in event.manager.selectedFiles) focused(file, editorOf(event.newEditor))
        }
    }

    private inner class Carets : CaretListener {
        override fun caretPositionChanged(event: CaretEvent) = caretOrSelectionChanged(event.editor)

        override fun caretAdded(event: CaretEvent) = caretOrSelectionChanged(event.editor)

        override fun caretRemoved(event: CaretEvent) = caretOrSelectionChanged(event.editor)
    }

    private inner class Selections : SelectionListener {
        override fun selectionChanged(event: SelectionEvent) = caretOrSelectionChanged(event.editor)
    }
}

/**
 * Reports files and directories, open or not, because the server knows which ones are open. Called in a write action,
 * after the change: only then do events have both the old path and the new one.
 */
internal class FileChanges(private val core: CompanionCore) : BulkFileListener {
    override fun after(events: List<VFileEvent>) {
        for (event in events) {
            if (event is VFileDeleteEvent && event.file.isInLocalFileSystem) {
                core.send(ServerMessage.Deleted(systemPath(event.path)))
            }
            RenamedFile.of(event)?.let { core.send(ServerMessage.Renamed(it.oldPath, it.newPath)) }
        }
    }
}
