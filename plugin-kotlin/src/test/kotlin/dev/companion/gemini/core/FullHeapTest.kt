// Tests that a JVM without free memory, which attaches no thread, loses no proposal.

package dev.companion.gemini.core

import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.io.FileDescriptor
import java.io.FileOutputStream
import java.nio.file.Path
import java.util.concurrent.TimeUnit

class FullHeapTest {
    /**
     * In milliseconds. The request has to arrive while the heap is full, and nothing shows when it does. No proposal is
     * lost in any order, so a slow machine only needs a longer pause.
     */
    private val pauses = listOf(1_000L, 5_000L, 20_000L)

    @TempDir
    lateinit var root: Path

    @Test
    fun `what is asked while no thread can attach is asked later`() {
        val heap = listOf("-Xmx24m", "-XX:+UseSerialGC", "-XX:-UseTLAB")
        ChildJvm(FullHeap::class.java, listOf(root.toString()), heap).use { child ->
            val (port, token) = child.nextLine().split(' ')
            val cli = Cli(port.toInt(), token)
            val wasFull = pauses.any { pause ->
                child.sendLine("fill")
                generateSequence { child.nextLine() }.first { it == "full" }
                val opened = cli.openDiff(root.resolve("$pause.txt").toString(), "text")
                Thread.sleep(pause)
                child.sendLine("free")
                val said = generateSequence { child.nextLine() }.takeWhile { it != "shown" }.toList()
                opened.get()
                said.any { "the IDE can't be called, and will be as soon as it can" in it }
            }
            assertTrue(wasFull)
        }
    }
}

/** Serves while the heap is full. */
object FullHeap {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val requests = RecordingEditor { println(it) }
        val window = Window(Path.of(arguments.single()), requests)
        println("${window.core.status.port} ${window.core.token}")
        while (true) {
            fillUntilFreed()
            window.show()
            generateSequence { window.log.poll(1, TimeUnit.SECONDS) }.forEach { println(it.second) }
            println("shown")
        }
    }

    private fun fillUntilFreed() {
        readln()
        val full = "full\n".toByteArray()
        val output = FileOutputStream(FileDescriptor.out)
        val kept = arrayOfNulls<Any>(1)
        var size = 1 shl 20
        while (size > 0) {
            try {
                while (true) kept[0] = arrayOf(kept[0], ByteArray(size))
            } catch (_: OutOfMemoryError) {
                size /= 2
            }
        }
        output.write(full)
        System.`in`.read()
        kept[0] = null
        readln()
    }
}
