// Analyzes a file with today's platform, and reports its progress.

package dev.companion.gemini.platform

import com.intellij.codeInsight.daemon.impl.DaemonCodeAnalyzerEx
import com.intellij.codeInsight.daemon.impl.HighlightInfo
import com.intellij.codeInsight.daemon.impl.MainPassesRunner
import com.intellij.openapi.fileEditor.TextEditor
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile

object CodeAnalysis {
    /** Returns whether the daemon has finished in [editor]. In a read action. */
    fun isComplete(project: Project, editor: TextEditor): Boolean =
        DaemonCodeAnalyzerEx.isHighlightingCompleted(editor, project)

    /**
     * Analyzes a file as the daemon does, on this thread: off the EDT, without a lock, and under a progress indicator.
     * User actions interrupt the analysis, and it starts again. Returns null if the IDE does not analyze such a file.
     */
    fun run(project: Project, file: VirtualFile): List<HighlightInfo>? =
        MainPassesRunner(project, "", null).runMainPasses(listOf(file)).values.firstOrNull()

    /** Returns the id of the inspection, for suppression. */
    fun rule(info: HighlightInfo): String? = info.inspectionToolId
}
