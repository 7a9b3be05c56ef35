// Tests that a server does not delay the end of a JVM.

package dev.companion.gemini.core

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.nio.file.Path
import java.util.concurrent.CountDownLatch
import kotlin.system.exitProcess

class ExitTest {
    @TempDir
    lateinit var root: Path

    /** Ends a JVM with a running server and a connected client, in this way. */
    private fun assertExits(way: String, meanwhile: (ChildJvm, Cli) -> Unit = { _, _ -> }) {
        ChildJvm(LeaveRunning::class.java, listOf(root.toString(), way)).use { child ->
            val (port, token) = child.nextLine().split(' ')
            meanwhile(child, Cli(port.toInt(), token))
            child.sendLine("end")
            assertEquals(0, child.exitCode(2_000), "not within 2 s")
            assertEquals("", child.rest())
        }
    }

    @Test
    fun `the end of main ends the JVM`() = assertExits("return")

    @Test
    fun `exit ends the JVM`() = assertExits("exit")

    @Test
    fun `exit ends the JVM while a callback does not return`() =
        assertExits("exit") { child, cli ->
            cli.openDiff(root.resolve("a.txt").toString(), "text")
            assertEquals("a callback waits", child.nextLine())
        }
}

/** Starts a server, and ends on request without stopping it. */
object LeaveRunning {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val (root, way) = arguments
        val requests = RecordingEditor { what ->
            if (what == "OpenDiff") {
                println("a callback waits")
                CountDownLatch(1).await()
            }
        }
        val core = Window(Path.of(root), requests).core
        println("${core.status.port} ${core.token}")
        readln()
        if (way == "exit") exitProcess(0)
    }
}
