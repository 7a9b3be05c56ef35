// Checks the files of waiting proposals for changes by other programs.

package dev.companion.gemini.target

import com.intellij.openapi.Disposable
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.FileOnDisk
import java.nio.file.Path
import java.util.concurrent.Future
import java.util.concurrent.TimeUnit

/**
 * Checks the files of waiting proposals. The platform checks only when the user returns to its window. A user of its
 * terminal is already there, and the file watcher may be off. For the EDT, except [changed], which is called after the
 * first look, and when a file has been changed, created, deleted or moved.
 */
internal class TargetPoller(private val changed: () -> Unit) : Disposable {
    private var paths = emptySet<Path>()
    private var looks: Future<*>? = null

    fun update(paths: Set<Path>) {
        assertEdt()
        if (paths == this.paths) return
        this.paths = paths
        looks?.cancel(false)
        looks = if (paths.isEmpty()) null else lookAt(paths)
    }

    override fun dispose() {
        looks?.cancel(false)
    }

    private fun lookAt(paths: Set<Path>): Future<*> {
        var last: Map<Path, FileOnDisk.Stamp?>? = null
        val look = Runnable {
            paths.forEach { FileOnDisk.find(it) }
            val now = paths.associateWith { FileOnDisk.stamp(it) }
            if (now != last) changed()
            last = now
        }
        val timers = AppExecutorUtil.getAppScheduledExecutorService()
        return timers.scheduleWithFixedDelay(look, EVERY_MILLIS, EVERY_MILLIS, TimeUnit.MILLISECONDS)
    }

    private companion object {
        const val EVERY_MILLIS = 1_000L
    }
}
