// Answers each request once, and in time.

package dev.companion.gemini.review

import com.intellij.openapi.Disposable
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.Responder
import dev.companion.gemini.platform.logFailure
import dev.companion.gemini.target.TargetException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException

/**
 * Keeps the requests that wait for an answer. Any thread. The server itself gives up after its
 * `host_timeout`, 30 s, with a vaguer message.
 */
internal class PendingRequests(private val deadlineMillis: Long = 25_000) : Disposable {
    private val pending = ConcurrentHashMap.newKeySet<Pending>()

    fun add(responder: Responder<String?>): Pending = Pending(responder)

    override fun dispose() = pending.forEach { it.fail(TargetException(message("diff.error.closed"))) }

    inner class Pending(responder: Responder<String?>) {
        private val answer = CompletableFuture<String?>()

        /** Whether the server still waits for the answer. */
        val isWaiting get() = !answer.isDone

        /** Dropped with the answer, because it may hold a large text, and a dialog may be open for hours. */
        @Volatile
        private var job: (() -> Unit)? = null

        init {
            pending += this
            val answered = answer.orTimeout(deadlineMillis, TimeUnit.MILLISECONDS).handle { text, failure ->
                pending -= this
                job = null
                if (failure == null) responder.complete(text) else responder.fail(explain(failure))
            }
            answered.logFailure()
        }

        private fun explain(failure: Throwable): String =
            when (failure) {
                is TargetException -> failure.message.orEmpty()
                is TimeoutException -> message("diff.error.busy")
                is LinkageError -> CompanionBundle.missing(failure)
                else -> message("diff.error.internal")
            }

        /** Runs [job] in its [turn], unless the request has ended by then, and reports a failure. */
        fun waitFor(turn: (() -> Unit) -> Unit, job: () -> Unit) {
            this.job = job
            if (!isWaiting) this.job = null
            turn {
                try {
                    this.job?.invoke()
                } catch (e: Throwable) {
                    fail(e)
                    if (e !is TargetException) throw e
                }
            }
        }

        fun complete(text: String? = null) {
            answer.complete(text)
        }

        fun fail(failure: Throwable) {
            answer.completeExceptionally(failure)
        }
    }
}
