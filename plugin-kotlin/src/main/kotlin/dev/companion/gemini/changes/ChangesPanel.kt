// Shows the tree of changed files with its toolbar, keys and menu.

package dev.companion.gemini.changes

import com.intellij.ide.DefaultTreeExpander
import com.intellij.openapi.Disposable
import com.intellij.openapi.actionSystem.ActionGroup
import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.actionSystem.DataKey
import com.intellij.openapi.actionSystem.DataProvider
import com.intellij.openapi.actionSystem.DefaultActionGroup
import com.intellij.openapi.actionSystem.PlatformDataKeys
import com.intellij.openapi.fileEditor.OpenFileDescriptor
import com.intellij.openapi.project.Project
import com.intellij.openapi.ui.SimpleToolWindowPanel
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.pom.Navigatable
import com.intellij.ui.ClickListener
import com.intellij.ui.PopupHandler
import com.intellij.ui.ScrollPaneFactory
import dev.companion.gemini.core.ChangeKind
import java.awt.BorderLayout
import java.awt.Component
import java.awt.event.KeyEvent
import java.awt.event.MouseEvent
import javax.swing.JPanel
import javax.swing.KeyStroke

/** EDT. */
internal class ChangesPanel(val project: Project) :
    JPanel(BorderLayout()),
    DataProvider,
    Disposable {
    val service = ChangesService.getInstance(project)
    val tree = ChangesTree(project)

    /** For the platform's own actions and keys. */
    private val expander = DefaultTreeExpander(tree)

    init {
        val actions = ActionManager.getInstance()
        val toolbar = actions.createActionToolbar(PLACE, actions.getAction(PLACE) as ActionGroup, false)
        toolbar.setTargetComponent(tree)
        val panel = SimpleToolWindowPanel(false)
        panel.setToolbar(toolbar.component)
        panel.setContent(ScrollPaneFactory.createScrollPane(tree, true))
        add(panel, BorderLayout.CENTER)
        val doubleClick = object : ClickListener() {
            /** A group opens or closes. */
            override fun onClick(event: MouseEvent, clickCount: Int): Boolean {
                val isOnFile = clickCount == 2 && tree.selectedFiles.isNotEmpty()
                if (isOnFile) showDiff()
                return isOnFile
            }
        }
        doubleClick.installOn(tree)
        val enter = KeyStroke.getKeyStroke(KeyEvent.VK_ENTER, 0)
        tree.registerKeyboardAction(
            { if (tree.selectedFiles.isEmpty()) showPrompts() else showDiff() },
            enter,
            WHEN_FOCUSED,
        )
        // Not in companion.xml, because nothing makes the platform register this action before the plugin's.
        val history = actions.getAction("LocalHistory.ShowHistory")
        val menu = DefaultActionGroup(listOfNotNull(actions.getAction("Companion.ChangesMenu"), history))
        val popup = object : PopupHandler() {
            override fun invokePopup(component: Component, x: Int, y: Int) =
                actions.createActionPopupMenu(PLACE, menu).component.show(component, x, y)
        }
        tree.addMouseListener(popup)
        val listener = ChangesListener { tree.show(service.prompts) }
        project.messageBus.connect(this).subscribe(ChangesListener.TOPIC, listener)
        tree.show(service.prompts)
    }

    /** Shows the file at the cursor, or the selected ones. The viewer leads to the others of the prompt. */
    fun showDiff() {
        val selected = tree.selectedRows.filter { it.isComparable }
        val first = selected.firstOrNull() ?: return
        val rows = if (selected.size > 1) selected else service.prompts.first { it.key == first.prompt }.rows
        ChangeDiffs(project).show(rows.filter { it.isComparable }, first)
    }

    /** Shows all changes of the selected prompts, in a tab for each. */
    fun showPrompts() = tree.selectedPrompts.forEach(PromptDiffs.getInstance(project)::show)

    override fun getData(dataId: String): Any? =
        when {
            KEY.`is`(dataId) -> this
            CommonDataKeys.VIRTUAL_FILE.`is`(dataId) -> files().singleOrNull()
            CommonDataKeys.VIRTUAL_FILE_ARRAY.`is`(dataId) -> files().toTypedArray().takeIf { it.isNotEmpty() }
            PlatformDataKeys.TREE_EXPANDER.`is`(dataId) -> expander
            CommonDataKeys.NAVIGATABLE_ARRAY.`is`(dataId) -> places().toTypedArray().takeIf { it.isNotEmpty() }
            else -> null
        }

    /** For a deleted file its folder, whose Local History has the file. */
    private fun files(): List<VirtualFile> =
        tree.selectedFiles.mapNotNull { if (it.kind == ChangeKind.DELETED) service.place(it) else service.file(it) }

    /** The selected files that can be opened. */
    fun places(): List<Navigatable> =
        tree.selectedFiles.mapNotNull(service::file).map { OpenFileDescriptor(project, it) }

    override fun dispose() = Unit

    companion object {
        val KEY: DataKey<ChangesPanel> = DataKey.create("Companion.Changes")

        /** The place of the toolbar, and its id in companion.xml. */
        private const val PLACE = "Companion.Changes"
    }
}
