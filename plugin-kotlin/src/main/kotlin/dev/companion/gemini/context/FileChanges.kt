// Reports files that are renamed, moved or deleted to a server.

package dev.companion.gemini.context

import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.vfs.newvfs.BulkFileListener
import com.intellij.openapi.vfs.newvfs.events.VFileDeleteEvent
import com.intellij.openapi.vfs.newvfs.events.VFileEvent
import com.intellij.openapi.vfs.newvfs.events.VFileMoveEvent
import com.intellij.openapi.vfs.newvfs.events.VFilePropertyChangeEvent
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.disk.systemPath

/**
 * Reports files and directories, open or not, because the server knows which ones are open. Called in a write action,
 * after the change: only then do events have both the old path and the new one.
 */
internal class FileChanges(private val core: CompanionCore) : BulkFileListener {
    override fun after(events: List<VFileEvent>) {
        for (event in events) {
            when (event) {
                is VFileDeleteEvent -> {
                    if (event.file.isInLocalFileSystem) core.send(ServerMessage.Deleted(systemPath(event.path)))
                }

                is VFileMoveEvent -> {
                    renamed(event.file, event.oldPath)
                }

                is VFilePropertyChangeEvent -> {
                    if (event.propertyName == VirtualFile.PROP_NAME) renamed(event.file, event.oldPath)
                }
            }
        }
    }

    private fun renamed(file: VirtualFile, oldPath: String) {
        if (!file.isInLocalFileSystem) return
        core.send(ServerMessage.Renamed(systemPath(oldPath), systemPath(file.path)))
    }
}
