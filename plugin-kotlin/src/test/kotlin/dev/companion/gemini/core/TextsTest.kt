// Tests that texts and paths cross the boundary unchanged.

package dev.companion.gemini.core

import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource
import java.nio.file.Files
import java.nio.file.Path

class TextsTest {
    @TempDir
    lateinit var root: Path

    private val window by lazy { Window(root) }
    private val core get() = window.core
    private val cli by lazy { Cli(core) }

    @AfterEach
    fun close() = window.close()

    @ParameterizedTest
    @ValueSource(strings = ["", "plain", "a\u0000b", "\u0000", "é 文 😀", "line\r\nline\n", "\uFEFFmark", "\"\\/\u007F"])
    fun `a proposal and its text in the end come through`(text: String) = assertComesThrough(text)

    @Test
    fun `so do megabytes`() = assertComesThrough("é 文 😀 \"\\\n".repeat(120_000))

    private fun assertComesThrough(text: String) {
        val path = root.resolve("a.txt").toString()
        val opened = cli.openDiff(path, text)
        val shown = window.show()
        assertEquals(listOf(path, text), listOf(shown.filePath, shown.newContent))
        opened.get()
        assertEquals(Delivery.DELIVERED, core.request(ServerMessage.Accepted(path, "$text typed"))?.delivery)
        assertEquals("$text typed", cli.nextNotification("ide/diffAccepted")["content"].asString)
    }

    @Test
    fun `half of a surrogate pair becomes a question mark, and nothing else changes`() {
        val path = root.resolve("a.txt").toString()
        val opened = cli.openDiff(path, "text")
        window.show()
        opened.get()
        core.request(ServerMessage.Accepted(path, "a\uD83Db\uDE00c"))
        assertEquals("a?b?c", cli.nextNotification("ide/diffAccepted")["content"].asString)
    }

    @Test
    fun `what no path can have does no harm in one, nor half of a surrogate pair in a selection`() {
        val file = Files.createFile(root.resolve("a.txt")).toString()
        cli
        for (impossible in listOf("$root/\uD83D.txt", "$root/\uDE00.txt", "$root/\u0000.txt")) {
            core.send(ServerMessage.Focused(impossible))
            core.send(ServerMessage.Cursor(impossible, 1, 1))
            core.send(ServerMessage.Renamed(impossible, "$impossible.txt"))
            core.send(ServerMessage.Rejected(impossible))
        }
        core.send(ServerMessage.Focused(file))
        core.send(ServerMessage.Selection(file, "a\uD83D"))
        val active = cli.nextActiveFile()
        assertEquals(listOf(file, "a?"), listOf(active["path"].asString, active["selectedText"].asString))
    }
}
