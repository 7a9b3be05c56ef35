// Owns the opening and closing of tabs so that the focus and the caret stay where they are.

package dev.companion.gemini.diff

import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.wm.IdeFocusManager
import java.awt.KeyboardFocusManager
import javax.swing.SwingUtilities

/** For the EDT, without a dialog over it. */
internal class ProposalTabs(private val project: Project) {
    private val manager get() = FileEditorManager.getInstance(project)

    fun isOpen(file: ProposalFile) = manager.isFileOpen(file)

    /**
     * Shows the tab. It hides the editor that it comes over, and a hidden editor loses the focus to what hides it: a
     * user who types there would go on typing into the proposal. So in that case alone the tab waits in the background,
     * and a notification says so.
     */
    fun open(file: ProposalFile) {
        val typing = editorWithFocus()?.takeIf { it != file }
        manager.openFile(file, false)
        if (typing != null && typing.isValid) {
            manager.openFile(typing, true)
            file.proposal?.announce(project) { manager.openFile(file, true) }
        }
    }

    /** Closing gives the focus to the next tab, also if it was in a tool window: then it goes back there. */
    fun close(file: ProposalFile) {
        if (!isOpen(file)) return
        val focus = focusOwner()?.takeIf { ProposalPanel.around(it)?.editor?.file != file }
        manager.closeFile(file)
        if (focus != null) SwingUtilities.invokeLater { IdeFocusManager.getInstance(project).requestFocus(focus, true) }
    }

    private fun editorWithFocus(): VirtualFile? {
        val focus = focusOwner() ?: return null
        return manager.selectedFiles.firstOrNull { file ->
            manager.getSelectedEditor(file)?.let { SwingUtilities.isDescendingFrom(focus, it.component) } == true
        }
    }

    private fun focusOwner() = KeyboardFocusManager.getCurrentKeyboardFocusManager().focusOwner
}
