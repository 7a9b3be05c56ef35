// Collects the answer to one request, and sends it once.

package dev.companion.gemini.diagnostics

import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.Diagnostics
import dev.companion.gemini.core.FileDiagnostics
import dev.companion.gemini.core.Responder
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean

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
