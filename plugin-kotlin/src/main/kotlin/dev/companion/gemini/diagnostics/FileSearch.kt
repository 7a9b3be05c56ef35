// Finds the diagnostics of a file on the disk, by the kind of analysis that the IDE has for it.

package dev.companion.gemini.diagnostics

import com.intellij.codeInsight.daemon.DaemonCodeAnalyzer
import com.intellij.ide.PowerSaveMode
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.project.DumbService
import com.intellij.openapi.project.Project
import com.intellij.openapi.project.ProjectManager
import com.intellij.openapi.util.Computable
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.psi.PsiDocumentManager
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.Diagnostic
import dev.companion.gemini.core.FileDiagnostics
import dev.companion.gemini.core.Severity
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.disk.OpenedPath
import dev.companion.gemini.platform.CodeAnalysis
import dev.companion.gemini.platform.hasActiveWindow
import dev.companion.gemini.platform.reading
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Semaphore
import java.util.concurrent.TimeUnit

/** Diagnostics, and a clause that says why there may be more. */
internal class Found(
    val diagnostics: List<Diagnostic>,
    val incomplete: String? = null,
)

/** Runs on a background thread under a progress indicator, and may wait until [end], a time of [System.nanoTime]. */
internal class FileSearch(
    private val project: Project,
    private val least: Severity,
    private val end: Long,
) {
    fun find(path: String): FileDiagnostics {
        assertNotEdt()
        val file = OpenedPath.find(project, path)?.let(FileOnDisk::find)
            ?: return FileDiagnostics(path, emptyList(), message("diagnostics.incomplete.missing"))
        val found = findIn(file)
        val unsaved = message("diagnostics.incomplete.unsaved").takeIf { FileOnDisk.isUnsaved(file) }
        val reasons = listOfNotNull(unsaved, found.incomplete).joinToString(", ")
        return FileDiagnostics(path, found.diagnostics, reasons.ifEmpty { null })
    }

    private fun findIn(file: VirtualFile): Found {
        if (!isIndexed()) return Found(emptyList(), message("diagnostics.incomplete.indexing"))
        val look = Computable { AnalyzedFile.of(project, file) }
        val analyzed = PsiDocumentManager.getInstance(project).commitAndRunReadAction(look)
        return when {
            analyzed == null -> Found(emptyList(), message("diagnostics.incomplete.foreign"))
            analyzed.isPlainText -> Found(emptyList(), message("diagnostics.incomplete.plain"))
            analyzed.isAnalyzedElsewhere -> findElsewhere(file, analyzed.isOpen && isWatched(file))
            analyzed.isOpen && isWatched(file) -> watch(file)
            else -> known(file) ?: analyze(file)
        }
    }

    /** Returns the daemon's diagnostics when it has finished, or at [end]. */
    private fun watch(file: VirtualFile): Found {
        val finished = Semaphore(0)
        val parent = Disposer.newDisposable()
        try {
            val listener = object : DaemonCodeAnalyzer.DaemonListener {
                override fun daemonFinished() = finished.release()
            }
            project.messageBus.connect(parent).subscribe(DaemonCodeAnalyzer.DAEMON_EVENT_TOPIC, listener)
            do {
                known(file)?.let { return it }
            } while (finished.tryAcquire(end - System.nanoTime(), TimeUnit.NANOSECONDS))
        } finally {
            Disposer.dispose(parent)
        }
        // If the errors of the present text are unknown, all diagnostics are: earlier ones may have been fixed.
        val found = read(file) { analyzed -> analyzed.takeIf { it.hasErrors }?.diagnostics(least) }
        return Found(found.orEmpty(), message("diagnostics.incomplete.unfinished"))
    }

    /** Returns incomplete diagnostics, because the other process does not report when it has finished. */
    private fun findElsewhere(file: VirtualFile, isWatched: Boolean): Found {
        val found = if (isWatched) watch(file) else known(file)
        return Found(found?.diagnostics.orEmpty(), message("diagnostics.incomplete.elsewhere"))
    }

    /** Waits for the indexes, which a new file makes outdated for a moment. */
    private fun isIndexed(): Boolean {
        if (!DumbService.isDumb(project)) return true
        val indexed = CountDownLatch(1)
        DumbService.getInstance(project).runWhenSmart(indexed::countDown)
        return indexed.await(end - System.nanoTime(), TimeUnit.NANOSECONDS)
    }

    /**
     * Returns whether the daemon analyzes the file without a request, as it does only for visible files. If several
     * projects are open, today's daemon does so only in the project with the active window.
     */
    private fun isWatched(file: VirtualFile) =
        !PowerSaveMode.isEnabled() &&
            file in FileEditorManager.getInstance(project).selectedFiles &&
            (ProjectManager.getInstance().openProjects.size <= 1 || project.hasActiveWindow)

    /** Returns the daemon's diagnostics if it has finished, and nothing has changed since. */
    private fun known(file: VirtualFile): Found? =
        read(file) { analyzed -> analyzed.takeIf { it.isComplete }?.let { Found(it.diagnostics(least)) } }

    private fun analyze(file: VirtualFile): Found {
        val infos = CodeAnalysis.run(project, file)
        val found = infos?.let { read(file) { analyzed -> Found(analyzed.convert(infos, least)) } }
        return found ?: Found(emptyList(), message("diagnostics.incomplete.foreign"))
    }

    private fun <T : Any> read(file: VirtualFile, look: (AnalyzedFile) -> T?): T? =
        reading { AnalyzedFile.of(project, file)?.let(look) }
}
