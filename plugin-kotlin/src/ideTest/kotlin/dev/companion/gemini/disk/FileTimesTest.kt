// Tests the times of files, also on file systems that have few of them.

package dev.companion.gemini.disk

import com.intellij.openapi.util.io.FileUtil
import junit.framework.TestCase
import java.util.concurrent.Callable
import java.util.concurrent.ForkJoinPool

class FileTimesTest : TestCase() {
    private val file = FileUtil.createTempFile("times", null).toPath()

    private fun <T> offEdt(work: () -> T): T = ForkJoinPool.commonPool().submit(Callable { work() }).get()

    fun testAnUnpackedFileHasTheTimeOfItsEntry() {
        val before = System.currentTimeMillis() - 2_000
        file.toFile().setLastModified(1_000)
        assertTrue(checkNotNull(offEdt { FileTimes.lastChange(file) }) > before)
        assertEquals(1_000L, offEdt { FileTimes.lastModified(file) })
    }

    fun testAFileSystemWithoutViewsHasTheTimeOfTheContent() {
        file.toFile().setLastModified(1_000)
        val unknown = listOf(listOf("none:time"), listOf("none"), listOf("isDirectory"))
        for (views in unknown) assertEquals("$views", 1_000L, offEdt { FileTimes.lastChange(file, views) })
    }
}
