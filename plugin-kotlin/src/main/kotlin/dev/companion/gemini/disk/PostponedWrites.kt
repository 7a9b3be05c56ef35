// Waits for writes that the platform postpones.

package dev.companion.gemini.disk

import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.vfs.newvfs.ManagingFS
import dev.companion.gemini.core.assertNotEdt
import java.io.IOException
import java.lang.reflect.InvocationTargetException

/** For 2026.2 and newer. Older platforms lack the method, so it is called by name. */
internal object PostponedWrites {
    /** Returns once the disk has all text written to [file]. Throws an [IOException] if the disk refuses it. */
    fun flush(file: VirtualFile) = flush(file, ManagingFS::class.java)

    /** [type] is the class with the methods. Don't call it on the EDT, nor under a lock: the disk may not answer. */
    internal fun flush(file: VirtualFile, type: Class<*>) {
        assertNotEdt()
        val flush = try {
            type.getMethod("flushPendingUpdates", VirtualFile::class.java)
        } catch (_: NoSuchMethodException) {
            return // the written text is already on the disk
        }
        try {
            flush.invoke(type.getMethod("getInstance").invoke(null), file)
        } catch (e: InvocationTargetException) {
            throw e.targetException
        }
    }
}
