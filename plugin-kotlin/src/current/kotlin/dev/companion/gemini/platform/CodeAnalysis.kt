// Analyzes a file with today's platform, and reports its progress.

package dev.companion.gemini.platform

import com.intellij.codeInsight.daemon.impl.DaemonCodeAnalyzerEx
import com.intellij.codeInsight.daemon.impl.HighlightInfo
import com.intellij.codeInsight.daemon.impl.MainPassesRunner
import com.intellij.openapi.fileEditor.TextEditor
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile

object CodeAnalysis {
    /** Whether the daemon has come to its end in [editor]. In a read action. */
    fun isComplete(project: Project, editor: TextEditor): Boolean =
        DaemonCodeAnalyzerEx.isHighlightingCompleted(editor, project)

    /**
     * Analyzes a file as the daemon would, on this thread: not the EDT, without a lock, below a
     * progress indicator. User actions interrupt it, and it starts again. Null if the IDE does not
     * analyze such a file.
     */
    fun run(project: Project, file: VirtualFile): List<HighlightInfo>? =
        MainPassesRunner(project, "", null).runMainPasses(listOf(file)).values.firstOrNull()

    /** The id of the inspection, for suppression. */
    fun rule(info: HighlightInfo): String? = info.inspectionToolId
}
