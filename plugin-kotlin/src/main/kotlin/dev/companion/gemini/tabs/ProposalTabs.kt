// Opens and closes tabs of proposals without moving the focus or the caret.

package dev.companion.gemini.tabs

import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.ex.FileEditorManagerEx
import com.intellij.openapi.project.Project
import com.intellij.openapi.wm.IdeFocusManager
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.activeWindows
import java.awt.KeyboardFocusManager
import javax.swing.SwingUtilities

/** For the EDT, without a dialog over it. */
internal class ProposalTabs(private val project: Project) {
    private val manager get() = FileEditorManagerEx.getInstanceEx(project)

    fun isOpen(file: ProposalFile) = file.editors.isNotEmpty()

    fun hasFocus(file: ProposalFile) = file.editors.any(::hasFocus)

    /**
     * Opens a tab over the visible editor, unless an editor has the focus or gets it back. Otherwise a typing user
     * would type into the proposal, because a hidden editor passes its focus to the tab that hides it.
     */
    fun openAside(file: ProposalFile) {
        if (!isFocusInEditor()) open(file, false)
    }

    /**
     * Shows a tab on the user's request. In a tab that is already visible, the platform would leave
     * the focus in place.
     */
    fun show(file: ProposalFile) {
        open(file, true)
        val text = file.editors.mapNotNull(ProposalEditor::text).find { it.isShowing } ?: return
        IdeFocusManager.getInstance(project).requestFocus(text, true)
    }

    /**
     * Closes the tab in all windows. The platform moves the focus to the next tab, even from a tool
     * window; then the focus returns.
     */
    fun close(file: ProposalFile) {
        if (!isOpen(file)) return
        val focus = focusOwner()?.takeIf { ProposalPanel.around(it)?.editor?.file != file }
        manager.windows.filter { it.isFileOpen(file) }.forEach { manager.closeFile(file, it) }
        if (focus != null) SwingUtilities.invokeLater { IdeFocusManager.getInstance(project).requestFocus(focus, true) }
    }

    fun titleChanged(file: ProposalFile) {
        if (isOpen(file)) manager.updateFilePresentation(file)
    }

    /** Pins the tab, so that it is not a preview and the platform does not close it to make room. */
    private fun open(file: ProposalFile, focus: Boolean) {
        assertEdt()
        manager.openFile(file, focus)
        manager.windows.filter { it.isFileOpen(file) }.forEach { it.setFilePinned(file, true) }
    }

    /** Also whether an editor gets the focus back when a popup or a dialog closes, or from one that has just closed. */
    private fun isFocusInEditor(): Boolean =
        activeWindows().mapNotNull { it.mostRecentFocusOwner }.any { focus ->
            manager.allEditors.any { SwingUtilities.isDescendingFrom(focus, it.component) }
        }

    companion object {
        fun hasFocus(tab: ProposalEditor) = ProposalPanel.around(focusOwner())?.editor === tab

        private fun focusOwner() = KeyboardFocusManager.getCurrentKeyboardFocusManager().focusOwner

        /** The visible proposals; a split may show several. */
        fun inFront(project: Project): List<ProposalFile> =
            FileEditorManager.getInstance(project).selectedFiles.filterIsInstance<ProposalFile>()
    }
}
