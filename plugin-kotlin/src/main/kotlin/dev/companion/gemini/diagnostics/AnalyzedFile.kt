// Reads the text of a file, the daemon's progress and its diagnostics at one moment.

package dev.companion.gemini.diagnostics

import com.intellij.codeInsight.daemon.impl.DaemonCodeAnalyzerEx
import com.intellij.codeInsight.daemon.impl.HighlightInfo
import com.intellij.openapi.editor.Document
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.TextEditor
import com.intellij.openapi.fileTypes.PlainTextLanguage
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VFileProperty
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.psi.PsiFile
import com.intellij.psi.PsiManager
import dev.companion.gemini.core.Diagnostic
import dev.companion.gemini.core.Severity
import dev.companion.gemini.platform.CodeAnalysis

/** Valid only within its read action. */
internal class AnalyzedFile private constructor(
    private val project: Project,
    private val psi: PsiFile,
    private val document: Document,
) {
    /** Whether the IDE has no plugin for the language, or the file is plain text or too large. */
    val isPlainText get() = psi.viewProvider.baseLanguage === PlainTextLanguage.INSTANCE

    /**
     * Whether another process analyzes the file, as in Rider and CLion Nova. Then the daemon of this process finds
     * nothing, and the other process's diagnostics appear only in visible editors.
     */
    val isAnalyzedElsewhere get() = psi.viewProvider.baseLanguage.javaClass.name.startsWith("com.jetbrains.rider.")

    /** Whether the daemon has looked for errors in the present text. Earlier diagnostics belong to another text. */
    val hasErrors get() = DaemonCodeAnalyzerEx.getInstanceEx(project).isErrorAnalyzingFinished(psi)

    /** The editor in which the daemon analyzes the file, if the file is open. */
    private val editor: TextEditor?
        get() {
            val editors = FileEditorManager.getInstance(project).getAllEditors(psi.viewProvider.virtualFile)
            return editors.filterIsInstance<TextEditor>().firstOrNull()
        }

    val isOpen get() = editor != null

    /** Whether the daemon has finished. */
    val isComplete get() = hasErrors && editor?.let { CodeAnalysis.isComplete(project, it) } == true

    fun diagnostics(least: Severity): List<Diagnostic> {
        val infos = ArrayList<HighlightInfo>()
        DaemonCodeAnalyzerEx.processHighlights(document, project, null, 0, document.textLength) { infos.add(it) }
        return convert(infos, least)
    }

    fun convert(infos: List<HighlightInfo>, least: Severity): List<Diagnostic> =
        Conversion(document, psi.language.displayName).convert(infos, least)

    companion object {
        /** Returns null if the IDE does not analyze the file. */
        fun of(project: Project, file: VirtualFile): AnalyzedFile? {
            // Reading a FIFO or a device may never end.
            if (project.isDisposed || !file.isValid || file.isDirectory || file.`is`(VFileProperty.SPECIAL)) return null
            val psi = PsiManager.getInstance(project).findFile(file) ?: return null
            val document = FileDocumentManager.getInstance().getDocument(file) ?: return null
            return AnalyzedFile(project, psi, document)
        }
    }
}
