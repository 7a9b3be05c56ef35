// Tests that a CLI does not notice when one server replaces another.

package dev.companion.gemini.core

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.nio.file.Path
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executor
import kotlin.concurrent.thread

class ResumeTest {
    @TempDir
    lateinit var root: Path

    /** Runs each task on its own thread. They wait for each other, and Java's own pool may have only one thread. */
    private val each = Executor { task -> thread(isDaemon = true) { task.run() } }

    private fun proposeAndAccept(window: Window, cli: Cli) {
        val path = root.resolve("accepted.txt").toString()
        val opened = cli.openDiff(path, "text")
        window.show()
        opened.get()
        assertEquals(Delivery.DELIVERED, window.core.diffAccepted(path, "edited"))
        assertEquals("edited", cli.nextTold("ide/diffAccepted")["content"].asString)
    }

    @Test
    fun `a server that is started again has the same address, and knows its CLIs`() {
        val first = Window(root, configure = { it.copy(resume = true) })
        val environment = first.core.terminalEnvironment
        val cli = Cli(first.core)
        first.close()
        Window(root, configure = { it.copy(resume = true) }).use { second ->
            assertEquals(environment, second.core.terminalEnvironment)
            proposeAndAccept(second, cli.again())
        }
    }

    @Test
    fun `a proposal that showed when the process was killed is rejected by the next`() {
        val path = root.resolve("open.txt").toString()
        val cli = ChildJvm(ShowOne::class.java, listOf(root.toString())).use { child ->
            val (port, token) = child.nextLine().split(' ')
            val cli = Cli(port.toInt(), token)
            cli.openDiff(path, "text").get()
            cli
        }
        Window(root, configure = { it.copy(resume = true) }).use { next ->
            val again = cli.again()
            assertEquals(path, again.nextTold("ide/diffRejected")["filePath"].asString)
            proposeAndAccept(next, again)
        }
    }

    @Test
    fun `a CLI that asks while the next server starts is answered`() {
        val first = Window(root, configure = { it.copy(resume = true) })
        val cli = Cli(first.core)
        first.close()
        repeat(3) { round ->
            val requests = RecordingRequests()
            val showing = CompletableFuture.runAsync({ requests.asked.next("openDiff").request.complete() }, each)
            val path = root.resolve("round $round").toString()
            val opened = CompletableFuture.supplyAsync({ cli.openAsSoonAsItListens(path) }, each)
            Window(root, requests, configure = { it.copy(resume = true) }).use {
                showing.get()
                assertTrue(opened.get().contains("\"content\":[]"), opened.get())
            }
        }
    }

    @Test
    fun `comments that no model has got are returned by the next server`() {
        val comments = listOf("kept", "removed").map {
            CommentOnLines(
                it,
                root.resolve("\u00e4.txt").toString(),
                2,
                3,
                "the lines",
                "Why \"\u00e4\"?\nAnd \ud83e\udd84?",
            )
        }
        val outside = comments.first().copy(id = "outside", path = root.resolveSibling("outside.txt").toString())
        val first = Window(root, configure = { it.copy(resume = true) })
        (comments + outside).forEach(first.core::commentSet)
        first.core.commentRemoved("removed")
        val (id, reason) = first.requests.refusedComments.next("refusal")
        assertEquals("outside", id)
        assertTrue("workspace" in reason, reason)
        first.close()
        Window(root, configure = { it.copy(resume = true) }).use { second ->
            assertEquals(comments.take(1), second.requests.pendingComments.next("comments"))
        }
    }

    @Test
    fun `a server that is not to continue another has nothing in common with it`() {
        val (first, second) = List(2) { Window(root).use { it.core.terminalEnvironment } }
        val token = "GEMINI_CLI_IDE_AUTH_TOKEN"
        assertNotEquals(first[token], second[token])
    }
}

/** Prints its server's address, and shows a proposal until it is killed. */
object ShowOne {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val window = Window(Path.of(arguments.single()), configure = { it.copy(resume = true) })
        println("${window.core.status.port} ${window.core.terminalEnvironment["GEMINI_CLI_IDE_AUTH_TOKEN"]}")
        window.show()
        readln()
    }
}
