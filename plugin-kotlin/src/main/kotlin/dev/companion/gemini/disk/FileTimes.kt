// Reads when a file changed, on any file system.

package dev.companion.gemini.disk

import dev.companion.gemini.core.assertNotEdt
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
        val times = views.firstNotNullOfOrNull { view -> read { times(path, view).maxOrNull() } }
        return times ?: lastModified(path)
    }

    private fun times(path: Path, view: String): List<Long> {
        val attributes = Files.readAttributes(path, view, LinkOption.NOFOLLOW_LINKS)
        return attributes.values.filterIsInstance<FileTime>().map { it.toMillis() }
    }

    /** Returns null if the file system does not say. */
    fun lastModified(path: Path): Long? = read { Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS).toMillis() }

    /** File systems fail in many ways: remote ones of 2024 throw a [NotImplementedError]. */
    private fun read(time: () -> Long?): Long? {
        assertNotEdt()
        return runCatching(time).getOrNull()
    }
}
