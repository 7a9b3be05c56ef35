// Answers requests for the problems of a project, in time, with the problems known by then.

package dev.companion.gemini.diagnostics

import com.intellij.openapi.Disposable
import com.intellij.openapi.progress.ProcessCanceledException
import com.intellij.openapi.progress.ProgressManager
import com.intellij.openapi.progress.util.ProgressIndicatorBase
import com.intellij.openapi.project.DumbService
import com.intellij.openapi.project.Project
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.DiagnosticsRequest
import dev.companion.gemini.core.DiagnosticsResponder
import dev.companion.gemini.platform.Platform
import java.util.concurrent.TimeUnit

/**
 * One file is looked at after the other, on a background thread. While a dialog is open, or the EDT is busy, that
 * thread may wait for long; so it is a timer that answers then.
 */
class DiagnosticsService(private val project: Project) : Disposable {
    private val background = AppExecutorUtil.createBoundedApplicationPoolExecutor("Gemini CLI diagnostics", 1)

    @Volatile
    private var isDisposed = false

    /** Of the request that is under way. */
    @Volatile
    private var indicator = ProgressIndicatorBase()

    /** From the server's thread: returns at once. */
    fun find(responder: DiagnosticsResponder, asked: DiagnosticsRequest) {
        val answer = Answer(responder, asked.paths) { !project.isDisposed && DumbService.isDumb(project) }
        val ownIndicator = ProgressIndicatorBase()
        val giveUp = {
            ownIndicator.cancel()
            answer.send()
        }
        val timer = AppExecutorUtil
            .getAppScheduledExecutorService()
            .schedule(giveUp, ANSWER_MILLIS, TimeUnit.MILLISECONDS)
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
            // The problems found so far are the answer.
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

        /** The wait for the daemon. It leaves time to read the problems. */
        private const val DAEMON_MILLIS = 2_300L

        fun getInstance(project: Project): DiagnosticsService =
            Platform.service(project, DiagnosticsService::class.java)
    }
}
