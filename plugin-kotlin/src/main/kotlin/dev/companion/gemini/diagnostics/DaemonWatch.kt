// Waits for the IDE's own analysis of a visible file.

package dev.companion.gemini.diagnostics

import com.intellij.codeInsight.daemon.DaemonCodeAnalyzer
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Computable
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.vfs.VirtualFile
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.Severity
import java.util.concurrent.Semaphore
import java.util.concurrent.TimeUnit

internal class DaemonWatch(
    private val project: Project,
    private val file: VirtualFile,
    private val least: Severity,
) {
    /** Returns the daemon's diagnostics when it has finished, or at [end], a time of [System.nanoTime]. */
    fun find(end: Long): Found {
        val finished = Semaphore(0)
        val parent = Disposer.newDisposable()
        try {
            val listener = object : DaemonCodeAnalyzer.DaemonListener {
                override fun daemonFinished() = finished.release()
            }
            project.messageBus.connect(parent).subscribe(DaemonCodeAnalyzer.DAEMON_EVENT_TOPIC, listener)
            do {
                val found = look()
                if (found.incomplete == null) return found
            } while (finished.tryAcquire(end - System.nanoTime(), TimeUnit.NANOSECONDS))
            return look()
        } finally {
            Disposer.dispose(parent)
        }
    }

    /** If the errors of the present text are unknown, all diagnostics are: earlier ones may have been fixed. */
    private fun look(): Found =
        ApplicationManager.getApplication().runReadAction(
            Computable {
                val analyzed = AnalyzedFile.of(project, file)
                val reason = message("diagnostics.incomplete.unfinished").takeIf { analyzed?.isComplete != true }
                Found(analyzed?.takeIf { it.hasErrors }?.diagnostics(least).orEmpty(), reason)
            },
        )
}
