// Makes the IDE load the files that a CLI wrote, in the background.

package dev.companion.gemini.changes

import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.disk.OpenedPath

/**
 * Looks at the files one after the other, and reports them to [found] on any thread. A file with unsaved text keeps it:
 * see [FileOnDisk.find].
 */
internal class FilesOnDisk(
    private val project: Project,
    private val found: (Map<String, Found>) -> Unit,
) {
    class Found(
        /** Null if there is none. */
        val file: VirtualFile?,
        /** The nearest folder that exists. */
        val folder: VirtualFile?,
    )

    private val worker = AppExecutorUtil.createBoundedApplicationPoolExecutor("Changed files of CLIs", 1)
    private val waiting = LinkedHashSet<String>()

    /** Any thread. */
    fun look(paths: Collection<String>) {
        if (paths.isEmpty()) return
        val isFirst = synchronized(waiting) {
            val isFirst = waiting.isEmpty()
            waiting += paths
            isFirst
        }
        if (isFirst) worker.execute(::lookNow)
    }

    private fun lookNow() {
        val paths = synchronized(waiting) { waiting.toList().also { waiting.clear() } }
        found(paths.associateWith(::find))
    }

    private fun find(path: String): Found {
        val opened = OpenedPath.find(project, path) ?: return Found(null, null)
        val file = FileOnDisk.find(opened)
        val folders = generateSequence(opened.parent) { it.parent }
        return Found(file, file?.parent ?: folders.firstNotNullOfOrNull(FileOnDisk::known))
    }
}
