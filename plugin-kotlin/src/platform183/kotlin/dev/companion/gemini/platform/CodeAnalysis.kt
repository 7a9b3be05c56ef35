// Analyzes a file with the platform of 2018.3, and reports its progress.

package dev.companion.gemini.platform

import com.intellij.codeHighlighting.Pass
import com.intellij.codeInsight.daemon.impl.DaemonCodeAnalyzerEx
import com.intellij.codeInsight.daemon.impl.DaemonProgressIndicator
import com.intellij.codeInsight.daemon.impl.HighlightInfo
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.fileEditor.TextEditor
import com.intellij.openapi.progress.ProcessCanceledException
import com.intellij.openapi.progress.ProgressManager
import com.intellij.openapi.progress.util.AbstractProgressIndicatorExBase
import com.intellij.openapi.progress.util.ProgressIndicatorUtils
import com.intellij.openapi.project.DumbService
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.wm.ex.ProgressIndicatorEx
import com.intellij.psi.PsiManager

object CodeAnalysis {
    /** Returns whether the daemon has finished in [editor]. In a read action. */
    fun isComplete(project: Project, editor: TextEditor): Boolean =
        DaemonCodeAnalyzerEx
            .getInstanceEx(project)
            .fileStatusMap
            .getFileDirtyScope(editor.editor.document, Pass.LOCAL_INSPECTIONS) == null

    /**
     * Analyzes a file as the daemon does, on this thread: off the EDT, without a lock, and under a progress indicator.
     * User actions interrupt the analysis, and it starts again. Returns null if the IDE does not analyze such a file.
     */
    fun run(project: Project, file: VirtualFile): List<HighlightInfo>? {
        val indicator = ProgressManager.getInstance().progressIndicator as ProgressIndicatorEx
        var found: List<HighlightInfo>? = null
        do {
            ProgressIndicatorUtils.yieldToPendingWriteActions()
            DumbService.getInstance(project).waitForSmartMode()
            val daemon = DaemonProgressIndicator()
            indicator.addStateDelegate(
                object : AbstractProgressIndicatorExBase() {
                    override fun cancel() = daemon.cancel()
                },
            )
            indicator.checkCanceled()
            val isDone = ProgressIndicatorUtils.runInReadActionWithWriteActionPriority(
                { found = runMainPasses(project, file, daemon) },
                daemon,
            )
        } while (!isDone)
        return found
    }

    /** Returns the name of the inspection that found it. */
    fun rule(info: HighlightInfo): String? =
        info.quickFixActionRanges
            ?.firstOrNull()
            ?.first
            ?.displayName

    private fun runMainPasses(
        project: Project,
        file: VirtualFile,
        daemon: DaemonProgressIndicator,
    ): List<HighlightInfo>? {
        if (project.isDisposed || !file.isValid) return null
        // The next attempt waits for the end of the indexing.
        if (DumbService.isDumb(project)) throw ProcessCanceledException()
        val psi = PsiManager.getInstance(project).findFile(file) ?: return null
        val document = FileDocumentManager.getInstance().getDocument(file) ?: return null
        return DaemonCodeAnalyzerEx.getInstanceEx(project).runMainPasses(psi, document, daemon)
    }
}
