// Checks the files of waiting proposals for changes by other programs.

package dev.companion.gemini.target

import com.intellij.openapi.Disposable
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.platform.loggingFailure
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
        val look = {
            paths.forEach { FileOnDisk.find(it) }
            val now = paths.associateWith { FileOnDisk.stamp(it) }
            if (now != last) changed()
            last = now
        }
        val timers = AppExecutorUtil.getAppScheduledExecutorService()
        // Without the guard, one failure, as of another plugin's listener, would end all looks.
        val guarded = Runnable { loggingFailure("files of proposals are not checked", look) }
        return timers.scheduleWithFixedDelay(guarded, EVERY_MILLIS, EVERY_MILLIS, TimeUnit.MILLISECONDS)
    }

    private companion object {
        const val EVERY_MILLIS = 1_000L
    }
}
