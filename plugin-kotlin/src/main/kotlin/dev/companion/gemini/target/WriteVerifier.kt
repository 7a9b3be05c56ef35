// Checks whether the CLI has written an accepted text.

package dev.companion.gemini.target

import com.intellij.openapi.Disposable
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.FileOnDisk
import java.nio.charset.Charset
import java.nio.file.Path
import java.util.concurrent.Future
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicReference

/** For the EDT. */
internal class WriteVerifier : Disposable {
    private val looks = ArrayList<Future<*>>()

    /**
     * Refreshes the file a few times off the EDT, because the CLI writes it a moment after it receives the acceptance.
     * The IDE's file watcher reports later changes.
     */
    fun lookAt(path: Path) = look { FileOnDisk.find(path) }

    /**
     * Checks for the user's text, which has no other copy. If no check finds it, calls [missing] on any thread. A CLI
     * that received an acceptance may fail to write, because of the system or a hook.
     */
    fun expect(target: Target, text: String, missing: () -> Unit) {
        // Qwen Code keeps the file's encoding.
        val charsets = setOf(Charsets.UTF_8, target.file?.charset ?: Charsets.UTF_8)
        val awaited = AtomicReference(TextForm.plain(text))
        look { isLast ->
            awaited.get()?.let { if (isText(target.path, it, charsets)) awaited.set(null) }
            if (isLast && awaited.getAndSet(null) != null) missing()
        }
    }

    private fun look(look: (isLast: Boolean) -> Unit) {
        assertEdt()
        looks.removeIf { it.isDone }
        val timers = AppExecutorUtil.getAppScheduledExecutorService()
        AFTER_MILLIS.mapTo(looks) { millis ->
            timers.schedule({ look(millis == AFTER_MILLIS.last()) }, millis, TimeUnit.MILLISECONDS)
        }
    }

    /** Returns whether the file has that text, as a CLI writes it, with any line endings. */
    private fun isText(path: Path, plain: String, charsets: Set<Charset>): Boolean {
        val bytes = FileOnDisk.bytes(path, MAX_BYTES_OF_CHARACTER * (plain.length + 1L)) ?: return false
        return charsets.any { TextForm.plain(String(bytes, it)) == plain }
    }

    override fun dispose() = looks.forEach { it.cancel(false) }

    private companion object {
        /** The first checks are frequent, because the next edit of the file may follow at once. */
        val AFTER_MILLIS = longArrayOf(100, 300, 1_000, 2_000, 3_000, 5_000, 10_000)

        /** The size in UTF-32. In all other encodings a line break of two characters has fewer bytes. */
        const val MAX_BYTES_OF_CHARACTER = 4
    }
}
