// Owns the looks at files that the CLI writes, or that were written in its place.

package dev.companion.gemini.diff

import com.intellij.openapi.Disposable
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.FileOnDisk
import java.nio.file.Path
import java.util.concurrent.Future
import java.util.concurrent.TimeUnit

/** For the EDT. */
internal class WrittenFiles : Disposable {
    private val looks = ArrayList<Future<*>>()

    /**
     * The CLI writes the file a moment after it hears of the acceptance, so the VFS is asked to look a few times, off
     * the EDT. Later changes come by the IDE's file watcher.
     */
    fun lookAt(path: Path) {
        assertEdt()
        looks.removeIf { it.isDone }
        val look = Runnable { FileOnDisk.find(path) }
        val timers = AppExecutorUtil.getAppScheduledExecutorService()
        AFTER_MILLIS.mapTo(looks) { timers.schedule(look, it, TimeUnit.MILLISECONDS) }
    }

    override fun dispose() = looks.forEach { it.cancel(false) }

    private companion object {
        val AFTER_MILLIS = longArrayOf(100, 1_000, 3_000, 10_000)
    }
}
