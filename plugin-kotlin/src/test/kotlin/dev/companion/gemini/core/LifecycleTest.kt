// Tests that servers start and stop independently, at any time, without traces.

package dev.companion.gemini.core

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.condition.EnabledOnOs
import org.junit.jupiter.api.condition.OS
import org.junit.jupiter.api.io.TempDir
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.TimeUnit

class LifecycleTest {
    @TempDir
    lateinit var root: Path

    @Test
    fun `stopping twice is fine, also what never ran`() {
        val window = Window(root)
        window.close()
        window.close()
        for (number in listOf(0, -1, Long.MIN_VALUE, Long.MAX_VALUE)) NativeCore.stop(number)
    }

    @Test
    fun `the number of a server that does not run is refused`() {
        Window(root).use {
            for (number in listOf(0, -1, Long.MAX_VALUE)) {
                val thrown = assertThrows(IllegalStateException::class.java) {
                    NativeCore.request(number, "companion/status", "{}", null)
                }
                assertEquals("the companion $number is not running", thrown.message)
            }
        }
    }

    @Test
    fun `two projects have nothing to do with each other`() {
        val roots = listOf("one", "two").map { Files.createDirectory(root.resolve(it)) }
        val files = roots.map { Files.createFile(it.resolve("a.txt")).toString() }
        val (one, two) = roots.map { Window(it) }
        assertNotEquals(one.core.status.port, two.core.status.port)
        val clis = listOf(one, two).map { Cli(it.core) }
        one.core.send(ServerMessage.Focused(files[0]))
        two.core.send(ServerMessage.Focused(files[1]))
        assertEquals(files, clis.map { it.nextActiveFile()["path"].asString })

        val opened = clis[1].openDiff(files[1], "text")
        assertEquals(files[1], two.show().filePath)
        opened.get()
        assertEquals(Delivery.UNKNOWN, one.core.request(ServerMessage.Accepted(files[1], "text"))?.delivery)
        one.close()
        assertTrue(one.editor.messages.none { it is OpenDiff })
        assertEquals(Delivery.DELIVERED, two.core.request(ServerMessage.Accepted(files[1], "text"))?.delivery)
        clis[1].nextNotification("ide/diffAccepted")
        two.close()
    }

    @Test
    @EnabledOnOs(OS.LINUX, disabledReason = "It reads Linux's files about the process.")
    fun `a thousand servers leave no threads, files or memory behind`() {
        // The heap has its full size from the start, so all growth is outside it.
        val heap = listOf("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:TieredStopAtLevel=1")
        ChildJvm(StartAndStop::class.java, listOf(root.toString()), heap).use { child ->
            val measured = List(1 + StartAndStop.ROUNDS) { child.nextLine().split(' ').map(String::toInt) }
            assertEquals(0, child.exitCode(WAIT_SECONDS * 1000))
            val (threads, files) = measured.last().zip(measured.first()) { a, b -> a - b }
            assertTrue(threads <= 0 && files <= 0, "$threads threads and $files files more")
            // A server's leak grows in each round; the JVM's own memory does not.
            val kilobytes = measured.map { it[2] }.zipWithNext { a, b -> b - a }
            assertTrue(kilobytes.min() < StartAndStop.SERVERS, "$kilobytes kB more, by rounds")
        }
    }
}

/**
 * Starts and stops servers, and prints the process's resources after the first ones and after each
 * round.
 */
object StartAndStop {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val root = Path.of(arguments.single())
        repeat(WARM_UP) { Window(root).close() }
        val before = measure()
        println(before.joinToString(" "))
        repeat(ROUNDS) {
            repeat(SERVERS) { Window(root).close() }
            // The file watcher of the last server may end a little later.
            val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS)
            val after = generateSequence(::measure).first { after ->
                val isMore = after.zip(before).take(2).any { (a, b) -> a > b }
                !isMore || System.nanoTime() > deadline
            }
            println(after.joinToString(" "))
        }
    }

    /** Threads, files, and kilobytes of memory. */
    private fun measure(): List<Int> {
        val process = Path.of("/proc/self")
        // A thread that ends meanwhile can't be read.
        val name = { thread: Path -> runCatching { Files.readString(thread.resolve("comm")) }.getOrDefault("") }
        val threads = entries(process.resolve("task")) { "gemini" in name(it) }
        val files = entries(process.resolve("fd")) { true }
        val memory = Files.readAllLines(process.resolve("status")).first { it.startsWith("RssAnon:") }
        return listOf(threads, files, memory.filter(Char::isDigit).toInt())
    }

    private fun entries(folder: Path, matches: (Path) -> Boolean): Int =
        Files.list(folder).use { list -> list.toList().count(matches) }

    private const val WARM_UP = 200
    const val ROUNDS = 4

    /** The number of servers per round. */
    const val SERVERS = 250
}
