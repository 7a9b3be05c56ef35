// Defines the actions in the tab with all changes of a prompt.

package dev.companion.gemini.changes

import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.command.undo.UndoManager
import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.markup.GutterIconRenderer
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.fileEditor.FileEditor
import com.intellij.openapi.fileEditor.OpenFileDescriptor
import com.intellij.openapi.project.DumbAware
import com.intellij.openapi.vfs.VirtualFile
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.Hunk
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.platform.CompanionAction
import javax.swing.Icon

internal abstract class PromptDiffAction : CompanionAction() {
    protected abstract fun isPossible(file: PromptDiffFile, line: DiffLine): Boolean

    abstract fun perform(file: PromptDiffFile, line: DiffLine)

    override fun update(event: AnActionEvent) {
        val place = place(event)
        event.presentation.isVisible = place != null
        event.presentation.isEnabled = place != null && isPossible(place.first, place.second)
    }

    override fun actionPerformed(event: AnActionEvent) {
        val (file, line) = place(event) ?: return
        if (isPossible(file, line)) perform(file, line)
    }

    private fun place(event: AnActionEvent): Pair<PromptDiffFile, DiffLine>? {
        val editor = event.getData(CommonDataKeys.EDITOR) ?: return null
        val file = PromptDiffFile.of(editor) ?: return null
        return file.lineAt(editor)?.let { Pair(file, it) }
    }
}

/** An action on the change at the caret, and only on that. Its icon is also beside the header of each change. */
internal abstract class HunkAction : PromptDiffAction() {
    override fun isPossible(file: PromptDiffFile, line: DiffLine) = line.hunk != null

    override fun perform(file: PromptDiffFile, line: DiffLine) {
        perform(file, line.row ?: return, line.hunk ?: return)
    }

    protected abstract fun perform(file: PromptDiffFile, row: ChangeRow, hunk: Hunk)

    companion object {
        /** The ids of these actions, as in companion.xml. */
        val IDS = listOf("Companion.RevertHunk", "Companion.KeepHunk")
    }
}

internal class RevertHunkAction : HunkAction() {
    override fun perform(file: PromptDiffFile, row: ChangeRow, hunk: Hunk) =
        ChangeRevert(file.project, hunk, file.document).revert(listOf(row))
}

/** Keeps one part of a file's change. The server then reports the rest of the prompt's changes. */
internal class KeepHunkAction : HunkAction() {
    override fun perform(file: PromptDiffFile, row: ChangeRow, hunk: Hunk) =
        ChangesService.report(listOf(row), hunk, ServerMessage::ChangesKept)
}

/** Goes to the line at the caret in its file, also if the line has moved. */
internal class GoToChangedLineAction : PromptDiffAction() {
    override fun isPossible(file: PromptDiffFile, line: DiffLine) = target(file, line) != null

    override fun perform(file: PromptDiffFile, line: DiffLine) {
        val target = target(file, line) ?: return
        val document = FileDocumentManager.getInstance().getDocument(target)
        val number = if (document == null) 0 else nearest(document, line)
        OpenFileDescriptor(file.project, target, number, 0).navigate(true)
    }

    private fun target(file: PromptDiffFile, line: DiffLine): VirtualFile? =
        line.row?.let(ChangesService.getInstance(file.project)::file)

    /** Returns the nearest line with the same content, or the line with the same number. */
    private fun nearest(document: Document, line: DiffLine): Int {
        val last = maxOf(0, document.lineCount - 1)
        val content = line.content ?: return minOf(line.number, last)
        val text = document.immutableCharSequence
        for (distance in 0..MAX_MOVED) {
            for (number in listOf(line.number - distance, line.number + distance)) {
                if (number !in 0 until document.lineCount) continue
                val (start, end) = Pair(document.getLineStartOffset(number), document.getLineEndOffset(number))
                if (content.contentEquals(text.subSequence(start, end))) return number
            }
        }
        return minOf(line.number, last)
    }

    private companion object {
        /** The most lines that are searched, in each direction. */
        const val MAX_MOVED = 1_000
    }
}

/** Undoes the last revert in the tab, or makes it again. The platform's own action does not find the tab. */
internal class UndoRevertAction(
    private val tab: FileEditor,
    private val isAvailable: UndoManager.(FileEditor) -> Boolean,
    private val command: UndoManager.(FileEditor) -> Unit,
) : CompanionAction() {
    override fun update(event: AnActionEvent) {
        event.presentation.isEnabled = event.project?.let(UndoManager::getInstance)?.isAvailable(tab) == true
    }

    override fun actionPerformed(event: AnActionEvent) {
        UndoManager.getInstance(event.project ?: return).command(tab)
    }
}

/** Performs a [HunkAction] by a click in the gutter, beside the header of a change. */
internal class HunkIcon(
    private val file: PromptDiffFile,
    private val line: DiffLine,
    private val id: String,
) : GutterIconRenderer(),
    DumbAware {
    private val action = ActionManager.getInstance().getAction(id) as HunkAction

    override fun getIcon(): Icon = checkNotNull(action.templatePresentation.icon)

    override fun getTooltipText(): String = CompanionBundle.withKeys(message("action.$id.text"), id)

    override fun isNavigateAction() = true

    override fun getClickAction(): AnAction =
        object : CompanionAction() {
            override fun actionPerformed(event: AnActionEvent) = action.perform(file, line)
        }

    override fun equals(other: Any?) = other is HunkIcon && other.line === line && other.id == id

    override fun hashCode() = line.number
}
