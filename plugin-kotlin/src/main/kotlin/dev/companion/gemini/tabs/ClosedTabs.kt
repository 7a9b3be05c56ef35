// Decides whether the user has closed the tab of a proposal; docs/architecture/jetbrains.md has the list.

package dev.companion.gemini.tabs

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
import java.awt.event.InputEvent
import java.awt.event.KeyEvent
import java.awt.event.MouseEvent
import javax.swing.SwingUtilities

/**
 * Distinguishes the user from the platform, which closes tabs for many reasons: there are too many, a split or a window
 * closes, the user closes all others. None of these decides the proposal. The user closes it with the X or a middle
 * click on that tab, or with an action that closes one tab. A held key and the second of two clicks belong to the
 * previous tab. For the EDT.
 */
internal class ClosedTabs(
    project: Project,
    parent: Disposable,
    /** Knows the views that appear under the user's hands. */
    private val accidentalInput: AccidentalInputFilter,
    private val proposals: Set<Proposal>,
) : FileEditorManagerListener.Before {
    /** An action of [CLOSE_ONE] is running for this key or click, if any. */
    private var isClosingOne = false
    private var input: InputEvent? = null

    private val closings = AccidentalInputFilter()

    init {
        project.messageBus.connect(parent).subscribe(FileEditorManagerListener.Before.FILE_EDITOR_MANAGER, this)
        Platform.onAction(
            parent,
            before = { action, event ->
                input = event.inputEvent
                isClosingOne = closesOne(action, input as? KeyEvent)
            },
            after = {
                isClosingOne = false
                input = null
            },
        )
    }

    override fun beforeFileClosed(source: FileEditorManager, file: VirtualFile) {
        assertEdt()
        val byUser = isClosingOne || isClickOn(file)
        val isAccidental = byUser && isAccidental(file)
        if (file is ProposalFile) file.isClosedByUser = byUser && !isAccidental
        // If a file has several tabs, the next one may be in the other half of a split.
        if (byUser && !isAccidental) closings.expect(proposals.filter { it.file !== file || it.file.editors.size > 1 })
    }

    /**
     * Returns whether a click hit a tab that has just replaced another one. Several clicks in a row are otherwise
     * intended.
     */
    private fun isAccidental(file: VirtualFile): Boolean {
        val proposal = (file as? ProposalFile)?.proposal ?: return false
        val event = input ?: EventQueue.getCurrentEvent()
        val isRepeated = (event as? MouseEvent)?.clickCount != 1
        return accidentalInput.matches(event, proposal) || (isRepeated && closings.matches(event, proposal))
    }

    /**
     * Returns whether [action] closes one tab. A key often starts the tab's own action without an id, which has the
     * shortcut of the action with the id.
     */
    private fun closesOne(action: AnAction, key: KeyEvent?): Boolean =
        ActionManager.getInstance().getId(action) in CLOSE_ONE ||
            (key != null && CLOSE_ONE.any { KeymapUtil.isEventForAction(key, it) })

    private fun isClickOn(file: VirtualFile): Boolean {
        val click = EventQueue.getCurrentEvent() as? MouseEvent ?: return false
        val tabs = generateSequence(click.component) { it.parent }.filterIsInstance<JBTabs>().firstOrNull()
        val tab = tabs?.findInfo(click) ?: return false
        return tab.`object` == file && !SwingUtilities.isDescendingFrom(click.component, tab.component)
    }

    private companion object {
        val CLOSE_ONE = setOf(IdeActions.ACTION_CLOSE, IdeActions.ACTION_CLOSE_EDITOR)
    }
}
