// Answers each request once, and in time.

package dev.companion.gemini.review

import com.intellij.openapi.Disposable
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.Responder
import dev.companion.gemini.target.TargetException
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Future
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicReference

/**
 * Keeps the requests that wait for an answer. Any thread. The server itself gives up after its
 * `host_timeout`, 30 s, with a vaguer message.
 */
internal class PendingRequests(private val deadlineMillis: Long = 25_000) : Disposable {
    private val pending = ConcurrentHashMap.newKeySet<Pending>()

    fun add(responder: Responder<String?>): Pending {
        val added = Pending(responder)
        pending += added
        added.failLater()
        return added
    }

    override fun dispose() = pending.forEach { it.fail(CompanionBundle.message("diff.error.closed")) }

    inner class Pending(private val responder: Responder<String?>) : Responder<String?> {
        /** Whether the server still waits for the answer. */
        val isWaiting get() = this in pending

        /**
         * The task of the request. It is dropped early, because it may hold a large text, and a dialog may be open for
         * hours.
         */
        private val job = AtomicReference<() -> Unit>()

        @Volatile
        private var deadline: Future<*>? = null

        fun failLater() {
            val busy = { fail(CompanionBundle.message("diff.error.busy")) }
            val timers = AppExecutorUtil.getAppScheduledExecutorService()
            deadline = timers.schedule(busy, deadlineMillis, TimeUnit.MILLISECONDS)
            // The project may have closed meanwhile.
            if (!isWaiting) deadline?.cancel(false)
        }

        /**
         * Runs [job] in its [turn], unless the request has ended by then, and reports a failure.
         */
        fun waitFor(turn: (() -> Unit) -> Unit, job: () -> Unit) {
            this.job.set(job)
            if (!isWaiting) this.job.set(null)
            turn { this.job.getAndSet(null)?.let(::attempt) }
        }

        private fun attempt(job: () -> Unit) =
            try {
                job()
            } catch (e: TargetException) {
                fail(e.message.orEmpty())
            } catch (e: Throwable) {
                fail(
                    (e as? LinkageError)?.let(CompanionBundle::missing)
                        ?: CompanionBundle.message("diff.error.internal"),
                )
                throw e
            }

        fun complete() = complete(null)

        override fun complete(answer: String?) {
            if (ends()) responder.complete(answer)
        }

        override fun fail(message: String) {
            if (ends()) responder.fail(message)
        }

        private fun ends(): Boolean {
            val ends = pending.remove(this)
            deadline?.cancel(false)
            job.set(null)
            return ends
        }
    }
}
