// Answers requests for the diagnostics of a project, in time, with those known by then.

package dev.companion.gemini.diagnostics

import com.intellij.openapi.Disposable
import com.intellij.openapi.progress.ProcessCanceledException
import com.intellij.openapi.progress.ProgressManager
import com.intellij.openapi.progress.util.ProgressIndicatorBase
import com.intellij.openapi.project.DumbService
import com.intellij.openapi.project.Project
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.Diagnostics
import dev.companion.gemini.core.DiagnosticsRequest
import dev.companion.gemini.core.FileDiagnostics
import dev.companion.gemini.core.Responder
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.after
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean

/**
 * Analyzes one file after the other, on a background thread. While a dialog is open or the EDT is busy, that thread may
 * wait for long. Then a timer sends the answer.
 */
class DiagnosticsService(private val project: Project) : Disposable {
    private val background = AppExecutorUtil.createBoundedApplicationPoolExecutor("Gemini CLI diagnostics", 1)

    @Volatile
    private var isDisposed = false

    /** The progress indicator of the current request. */
    @Volatile
    private var indicator = ProgressIndicatorBase()

    /** Called on the server's thread, so it returns at once. */
    fun find(responder: Responder<Diagnostics>, asked: DiagnosticsRequest) {
        val answer = Answer(responder, asked.paths) { !project.isDisposed && DumbService.isDumb(project) }
        val ownIndicator = ProgressIndicatorBase()
        val timer = after(ANSWER_MILLIS) {
            ownIndicator.cancel()
            answer.send()
        }
        val end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DAEMON_MILLIS)
        background.execute {
            try {
                look(asked, answer, ownIndicator, end)
            } finally {
                timer.cancel(false)
                answer.send()
            }
        }
    }

    private fun look(asked: DiagnosticsRequest, answer: Answer, ownIndicator: ProgressIndicatorBase, end: Long) {
        indicator = ownIndicator
        if (isDisposed || !answer.isAwaited) return
        val search = FileSearch(project, asked.severity, end)
        try {
            ProgressManager.getInstance().runProcess(
                { asked.paths.forEach { answer.add(search.find(it)) } },
                ownIndicator,
            )
        } catch (_: ProcessCanceledException) {
            // The diagnostics found so far are the answer.
        } catch (e: LinkageError) {
            answer.fail(CompanionBundle.missing(e))
            throw e
        }
    }

    override fun dispose() {
        isDisposed = true
        indicator.cancel()
    }

    companion object {
        private const val ANSWER_MILLIS = 2_500L

        /** The time to wait for the daemon. It leaves time to read the diagnostics. */
        private const val DAEMON_MILLIS = 2_300L

        fun getInstance(project: Project): DiagnosticsService =
            Platform.service(project, DiagnosticsService::class.java)
    }
}

/** Any thread. */
internal class Answer(
    private val responder: Responder<Diagnostics>,
    private val paths: List<String>,
    private val isIndexing: () -> Boolean,
) {
    private val found = ConcurrentHashMap<String, FileDiagnostics>()
    private val isSent = AtomicBoolean()

    val isAwaited get() = !isSent.get()

    fun add(file: FileDiagnostics) {
        found[file.path] = file
    }

    /** Sends the answer. Files that were not analyzed are marked as incomplete. */
    fun send() {
        if (!isSent.compareAndSet(false, true)) return
        responder.complete(Diagnostics(paths.map { found[it] ?: unfinished(it) }))
    }

    /** Sends an error in place of an answer. */
    fun fail(why: String) {
        if (isSent.compareAndSet(false, true)) responder.fail(why)
    }

    private fun unfinished(path: String): FileDiagnostics {
        val why = if (isIndexing()) "diagnostics.incomplete.indexing" else "diagnostics.incomplete.unfinished"
        return FileDiagnostics(path, emptyList(), message(why))
    }
}
