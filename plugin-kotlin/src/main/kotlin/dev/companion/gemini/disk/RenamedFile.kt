// Reads from the IDE's events which file or folder has been renamed or moved.

package dev.companion.gemini.disk

import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.vfs.newvfs.events.VFileEvent
import com.intellij.openapi.vfs.newvfs.events.VFileMoveEvent
import com.intellij.openapi.vfs.newvfs.events.VFilePropertyChangeEvent
import java.io.File

/** Paths are those of the system. */
internal class RenamedFile(
    val oldPath: String,
    val newPath: String,
) {
    /** Returns the new path of the file or folder itself, or of one in the folder; null for any other. */
    fun newPathOf(path: String): String? {
        if (!path.startsWith(oldPath)) return null
        val rest = path.removePrefix(oldPath)
        return if (rest.isEmpty() || rest.startsWith(File.separator)) newPath + rest else null
    }

    companion object {
        /** Returns null for other events. To be called after the change: only then does an event have both paths. */
        fun of(event: VFileEvent): RenamedFile? =
            when (event) {
                is VFileMoveEvent -> from(event.oldPath, event.file)
                is VFilePropertyChangeEvent if event.isOfName -> from(event.oldPath, event.file)
                else -> null
            }

        private val VFilePropertyChangeEvent.isOfName get() = propertyName == VirtualFile.PROP_NAME

        private fun from(oldPath: String, file: VirtualFile): RenamedFile? =
            if (file.isInLocalFileSystem) RenamedFile(systemPath(oldPath), systemPath(file.path)) else null
    }
}
