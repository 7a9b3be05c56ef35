// Refreshes a file that a CLI is about to write. It does not know when, or whether, the CLI has written.

package dev.companion.gemini.target

import com.intellij.openapi.Disposable
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.FileOnDisk
import java.nio.file.Path
import java.util.concurrent.Future
import java.util.concurrent.TimeUnit

/** For the EDT. */
internal class RefreshAfterWrite : Disposable {
    private val looks = ArrayList<Future<*>>()

    /**
     * Refreshes the file a few times off the EDT, because the CLI writes it a moment after it receives the acceptance.
     * The IDE's file watcher reports later changes.
     */
    fun lookAt(path: Path) {
        assertEdt()
        looks.removeIf { it.isDone }
        val timers = AppExecutorUtil.getAppScheduledExecutorService()
        for (millis in AFTER_MILLIS) looks += timers.schedule({ FileOnDisk.find(path) }, millis, TimeUnit.MILLISECONDS)
    }

    override fun dispose() = looks.forEach { it.cancel(false) }

    private companion object {
        val AFTER_MILLIS = longArrayOf(100, 300, 1_000, 2_000, 3_000, 5_000, 10_000)
    }
}
