// Defines the actions on changed files.

package dev.companion.gemini.changes

import com.intellij.openapi.actionSystem.AnActionEvent
import dev.companion.gemini.platform.CompanionAction
import dev.companion.gemini.platform.copyToClipboard

internal abstract class ChangesAction : CompanionAction() {
    /** The rows that the action is about. */
    protected abstract fun rows(panel: ChangesPanel): List<ChangeRow>

    protected abstract fun perform(panel: ChangesPanel)

    override fun update(event: AnActionEvent) {
        val panel = event.getData(ChangesPanel.KEY)
        event.presentation.isEnabled = panel != null && rows(panel).isNotEmpty()
    }

    override fun actionPerformed(event: AnActionEvent) {
        perform(event.getData(ChangesPanel.KEY) ?: return)
    }
}

internal class ShowChangeAction : ChangesAction() {
    override fun rows(panel: ChangesPanel) = panel.tree.selectedRows.filter { it.isComparable }

    override fun perform(panel: ChangesPanel) = panel.showDiff()
}

/** Shows all changes of a prompt in one view. */
internal class ShowPromptAction : ChangesAction() {
    override fun rows(panel: ChangesPanel) = panel.tree.selectedPrompts.flatMap { it.rows }

    override fun perform(panel: ChangesPanel) = panel.showPrompts()
}

internal class RevertFileAction : ChangesAction() {
    override fun rows(panel: ChangesPanel) = panel.tree.selectedFiles.filter { it.isRevertible }

    override fun perform(panel: ChangesPanel) = ChangeRevert(panel.project).revert(rows(panel))
}

internal class RevertPromptAction : ChangesAction() {
    override fun rows(panel: ChangesPanel) = panel.tree.selectedPrompts.flatMap { it.rows }.filter { it.isRevertible }

    override fun perform(panel: ChangesPanel) = ChangeRevert(panel.project).revert(rows(panel))
}

/** Removes files from the list, or all files of a prompt. */
internal class KeepAction : ChangesAction() {
    override fun rows(panel: ChangesPanel) = panel.tree.selectedRows

    override fun perform(panel: ChangesPanel) = panel.service.keep(rows(panel), panel.tree.wholePrompts)
}

internal class OpenChangedFileAction : ChangesAction() {
    override fun rows(panel: ChangesPanel) = panel.tree.selectedFiles.filter { panel.service.file(it) != null }

    override fun perform(panel: ChangesPanel) = panel.places().forEach { it.navigate(true) }
}

internal class CopyPathAction : ChangesAction() {
    override fun rows(panel: ChangesPanel) = panel.tree.selectedRows

    override fun perform(panel: ChangesPanel) = copyToClipboard(rows(panel).joinToString("\n") { it.path })
}
