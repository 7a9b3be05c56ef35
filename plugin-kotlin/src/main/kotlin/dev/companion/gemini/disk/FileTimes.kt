// Reads when a file changed, on any file system.

package dev.companion.gemini.disk

import dev.companion.gemini.core.assertNotEdt
import java.io.IOException
import java.nio.file.Files
import java.nio.file.LinkOption
import java.nio.file.Path
import java.nio.file.attribute.FileTime

internal object FileTimes {
    /** The attributes with times differ between systems. The file systems of WSL and containers may have neither. */
    private val VIEWS = listOf("unix:lastModifiedTime,ctime", "lastModifiedTime,creationTime")

    /**
     * Returns the last change of a file or of its entry, in milliseconds since 1970: a moved or unpacked file keeps its
     * old modification time. Null if the file system does not say.
     */
    fun lastChange(path: Path, views: List<String> = VIEWS): Long? {
        assertNotEdt()
        for (view in views) {
            val times = read { Files.readAttributes(path, view, LinkOption.NOFOLLOW_LINKS).values } ?: continue
            return times.filterIsInstance<FileTime>().maxOfOrNull { it.toMillis() } ?: continue
        }
        return lastModified(path)
    }

    /** Returns null if the file system does not say. */
    fun lastModified(path: Path): Long? {
        assertNotEdt()
        return read { Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS).toMillis() }
    }

    private fun <T> read(times: () -> T): T? =
        try {
            times()
        } catch (_: UnsupportedOperationException) {
            null
        } catch (_: IllegalArgumentException) {
            null
        } catch (_: NotImplementedError) {
            null // the remote file systems of 2024
        } catch (_: IOException) {
            null
        }
}
