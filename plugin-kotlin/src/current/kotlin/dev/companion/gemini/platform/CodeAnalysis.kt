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
     * Looks for what the daemon would find, on this thread: not the EDT, without a lock, below a progress indicator.
     * What the user does goes first, and it begins anew. Null if the IDE analyzes no such file.
     */
    fun run(project: Project, file: VirtualFile): List<HighlightInfo>? =
        MainPassesRunner(project, "", null).runMainPasses(listOf(file)).values.firstOrNull()

    /** The id of the inspection that has found it, by which one suppresses it. */
    fun rule(info: HighlightInfo): String? = info.inspectionToolId
}
