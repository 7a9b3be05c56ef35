// Tests that a JVM without free memory, which attaches no thread, loses no proposal.

package dev.companion.gemini.core

import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.io.FileDescriptor
import java.io.FileOutputStream
import java.nio.file.Path

class FullHeapTest {
    @TempDir
    lateinit var root: Path

    @Test
    fun `what is asked while no thread can attach is asked later`() {
        val heap = listOf("-Xmx24m", "-XX:+UseSerialGC", "-XX:-UseTLAB")
        ChildJvm(FullHeap::class.java, listOf(root.toString()), heap).use { child ->
            val (port, token) = child.nextLine().split(' ')
            val cli = Cli(port.toInt(), token)
            child.sendLine("fill")
            generateSequence { child.nextLine() }.first { it == "full" }
            val opened = cli.openDiff(root.resolve("a.txt").toString(), "text")
            // The result is right in any order. The pause makes it likely that the request has arrived.
            Thread.sleep(1_000)
            child.sendLine("free")
            val said = generateSequence { child.nextLine() }
            assertTrue(said.any { "the IDE can't be called, and will be as soon as it can" in it })
            opened.get()
        }
    }
}

/** Serves while the heap is full. */
object FullHeap {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val requests = RecordingEditor { println(it) }
        val window = Window(Path.of(arguments.single()), requests)
        println("${window.core.status.port} ${window.core.terminalEnvironment["GEMINI_CLI_IDE_AUTH_TOKEN"]}")
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
        window.show()
        while (true) println(window.log.next("the log").second)
    }
}
