// Writes the names of the selected files and lines into the prompt of a CLI.

package dev.companion.gemini.ui

import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.actionSystem.PlatformDataKeys
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.util.SystemInfo
import com.intellij.openapi.vfs.VirtualFile
import dev.companion.gemini.disk.idePath
import dev.companion.gemini.platform.CompanionAction
import dev.companion.gemini.tabs.ProposalFile
import dev.companion.gemini.tabs.ProposalPanel
import dev.companion.gemini.terminal.CliProgram
import dev.companion.gemini.terminal.PromptText

class AddToPromptAction : CompanionAction() {
    override val asksForFiles get() = true

    override fun update(e: AnActionEvent) {
        val canAdd = e.project != null && files(e).any { pathOf(it) != null }
        e.presentation.isEnabled = canAdd
        e.presentation.isVisible = canAdd
    }

    override fun actionPerformed(e: AnActionEvent) {
        val project = e.project ?: return
        val folder = project.basePath
        val isWindows = SystemInfo.isWindows && !CliProgram.isInWsl(folder, emptyList())
        val editor = e.getData(CommonDataKeys.EDITOR)
        val names = files(e).mapNotNull { file ->
            val path = pathOf(file) ?: return@mapNotNull null
            PromptText.naming(path, folder, file.isDirectory, editor?.let { selectedLines(it, file) }, isWindows)
        }
        if (names.isNotEmpty()) CompanionCommands.addToPrompt(project, PromptText.of(names))
    }

    /**
     * Returns the selected files. In a proposal's diff it returns the tab's file, because the texts are files of the
     * platform.
     */
    private fun files(e: AnActionEvent): List<VirtualFile> {
        val proposal = ProposalPanel.around(e.getData(PlatformDataKeys.CONTEXT_COMPONENT))?.editor
        return proposal?.let { listOf(it.file) } ?: e.getData(CommonDataKeys.VIRTUAL_FILE_ARRAY).orEmpty().asList()
    }

    /** Returns the path for a CLI. A proposal has the path of the file that it would change. */
    private fun pathOf(file: VirtualFile): String? =
        when {
            file is ProposalFile -> idePath(file.targetPath)
            file.isInLocalFileSystem -> file.path
            else -> null
        }

    /** 1-based. Returns null if nothing is selected, or if the selection is in another text than the file's. */
    private fun selectedLines(editor: Editor, file: VirtualFile): IntRange? {
        if (FileDocumentManager.getInstance().getFile(editor.document) != file) return null
        return CommentAction.selectedLines(editor)?.let { it.first + 1..it.last + 1 }
    }
}
