// Shows all changes of a prompt in a tab: a read-only editor with the unified diff.

package dev.companion.gemini.changes

import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.CommonShortcuts
import com.intellij.openapi.actionSystem.ShortcutSet
import com.intellij.openapi.command.undo.UndoManager
import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.EditorFactory
import com.intellij.openapi.editor.ex.EditorEx
import com.intellij.openapi.fileEditor.FileEditor
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.platform.StaticFileEditor
import dev.companion.gemini.platform.StaticFileEditorProvider
import javax.swing.JComponent

internal class PromptDiffEditorProvider : StaticFileEditorProvider("companion-prompt-diff") {
    override fun accept(project: Project, file: VirtualFile) = file is PromptDiffFile

    override fun createEditor(project: Project, file: VirtualFile): FileEditor =
        PromptDiffEditor(project, file as PromptDiffFile)
}

/** A tab of a [PromptDiffFile]. A split shows several. For the EDT. */
internal class PromptDiffEditor(
    project: Project,
    private val file: PromptDiffFile,
) : StaticFileEditor(file) {
    val editor = EditorFactory.getInstance().createViewer(file.document, project) as EditorEx

    init {
        editor.settings.isLineNumbersShown = false
        editor.settings.isLineMarkerAreaShown = true
        editor.settings.isRightMarginShown = false
        editor.setContextMenuGroupId("Companion.PromptDiffMenu")
        for (id in HunkAction.IDS) {
            ActionManager.getInstance().getAction(id).registerCustomShortcutSet(editor.contentComponent, this)
        }
        register(GoToChangedLineAction(), CommonShortcuts.ENTER)
        register(GoToChangedLineAction(), keys("EditSource"))
        register(UndoRevertAction(this, UndoManager::isUndoAvailable, UndoManager::undo), keys("\$Undo"))
        register(UndoRevertAction(this, UndoManager::isRedoAvailable, UndoManager::redo), keys("\$Redo"))
    }

    /** Keys of a component come before those of the keymap. */
    private fun register(action: AnAction, keys: ShortcutSet) =
        action.registerCustomShortcutSet(keys, editor.contentComponent, this)

    private fun keys(action: String): ShortcutSet = ActionManager.getInstance().getAction(action).shortcutSet

    override fun getComponent(): JComponent = editor.component

    override fun getPreferredFocusedComponent(): JComponent = editor.contentComponent

    override fun getName(): String = message("changes.diff.type")

    /** The reverts of the tab are those of its document. */
    override fun getDocuments(): Array<Document> = arrayOf(file.document)

    override fun dispose() = EditorFactory.getInstance().releaseEditor(editor)
}
