// Owns the judgement whether the user has closed a proposal's tab. It alone decides that; ARCHITECTURE.md has the list.

package dev.companion.gemini.diff

import com.intellij.openapi.Disposable
import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.IdeActions
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.FileEditorManagerListener
import com.intellij.openapi.keymap.KeymapUtil
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.ui.tabs.JBTabs
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.Platform
import java.awt.EventQueue
import java.awt.event.KeyEvent
import java.awt.event.MouseEvent
import javax.swing.SwingUtilities

/**
 * The platform closes tabs for many reasons: there are too many, a split or a window goes, the user closes all others.
 * None of these is about the proposal. The user closes it with the X or a middle click on that very tab, or with the
 * actions that close one tab. For the EDT.
 */
internal class ClosedTabs(
    project: Project,
    parent: Disposable,
) : FileEditorManagerListener.Before {
    /** One of [CLOSE_ONE] is being performed. */
    private var isClosingOne = false

    init {
        project.messageBus.connect(parent).subscribe(FileEditorManagerListener.Before.FILE_EDITOR_MANAGER, this)
        Platform.onAction(
            parent,
            before = { action, event -> isClosingOne = closesOne(action, event.inputEvent as? KeyEvent) },
            after = { isClosingOne = false },
        )
    }

    override fun beforeFileClosed(source: FileEditorManager, file: VirtualFile) {
        assertEdt()
        if (file is ProposalFile) file.isClosedByUser = isClosingOne || isClickOn(file)
    }

    /** By key it is often an action of the tab's own, without an id, that has the shortcut of the one with it. */
    private fun closesOne(action: AnAction, key: KeyEvent?): Boolean =
        ActionManager.getInstance().getId(action) in CLOSE_ONE ||
            (key != null && CLOSE_ONE.any { KeymapUtil.isEventForAction(key, it) })

    private fun isClickOn(file: ProposalFile): Boolean {
        val click = EventQueue.getCurrentEvent() as? MouseEvent ?: return false
        val tabs = generateSequence(click.component) { it.parent }.filterIsInstance<JBTabs>().firstOrNull()
        val tab = tabs?.findInfo(click) ?: return false
        return tab.`object` == file && !SwingUtilities.isDescendingFrom(click.component, tab.component)
    }

    private companion object {
        val CLOSE_ONE = setOf(IdeActions.ACTION_CLOSE, IdeActions.ACTION_CLOSE_EDITOR)
    }
}
