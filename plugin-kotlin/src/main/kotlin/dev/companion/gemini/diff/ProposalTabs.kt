// Owns the opening and closing of tabs so that the focus and the caret stay where they are.

package dev.companion.gemini.diff

import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.wm.StatusBar
import dev.companion.gemini.CompanionBundle
import java.awt.KeyboardFocusManager
import javax.swing.SwingUtilities

/** For the EDT, without a dialog over it. */
internal class ProposalTabs(private val project: Project) {
    private val manager get() = FileEditorManager.getInstance(project)

    fun isOpen(file: ProposalFile) = manager.isFileOpen(file)

    /**
     * Shows the tab. It hides the editor that it comes over, and a hidden editor loses the focus to what hides it: a
     * user who types there would go on typing into the proposal. So in that case alone the tab waits in the background.
     */
    fun open(file: ProposalFile) {
        val typing = editorWithFocus()?.takeIf { it != file }
        manager.openFile(file, false)
        if (typing != null && typing.isValid) {
            manager.openFile(typing, true)
            StatusBar.Info.set(CompanionBundle.message("diff.waiting", file.name), project)
        }
    }

    fun close(file: ProposalFile) {
        if (isOpen(file)) manager.closeFile(file)
    }

    private fun editorWithFocus(): VirtualFile? {
        val focus = KeyboardFocusManager.getCurrentKeyboardFocusManager().focusOwner ?: return null
        return manager.selectedFiles.firstOrNull { file ->
            manager.getSelectedEditor(file)?.let { SwingUtilities.isDescendingFrom(focus, it.component) } == true
        }
    }
}
