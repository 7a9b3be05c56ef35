// Tests that a failure on one side of the boundary does not break the other.

package dev.companion.gemini.core

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.atomic.AtomicBoolean

class FailuresTest {
    @TempDir
    lateinit var root: Path

    private fun assertWorks(window: Window, cli: Cli = Cli(window.core)) {
        val path = root.resolve("works.txt").toString()
        val opened = cli.openDiff(path, "text")
        window.show()
        assertEquals("[]", opened.get()["content"].toString())
    }

    @ParameterizedTest
    @MethodSource("whatCallbacksThrow")
    fun `a callback that throws fails its request and no other`(thrown: Throwable) {
        val broken = AtomicBoolean()
        Window(root, RecordingEditor { if (broken.get()) throw thrown }).use { window ->
            val cli = Cli(window.core)
            broken.set(true)
            val result = cli.openDiff(root.resolve("a.txt").toString(), "text").get()
            assertTrue(result["isError"].asBoolean)
            val text = result.getAsJsonArray("content")[0].asJsonObject["text"].asString
            assertEquals("The IDE could not carry out the request.", text)
            val (_, line) = window.log.until("an error in the log") { (level, _) -> level == LogLevel.ERROR }
            assertTrue("${thrown.javaClass.name}\n    at " in line, line)
            assertTrue("secret" !in line, "a message may have something of a file in it: $line")

            // A second CLI, which causes another message.
            Cli(window.core)
            broken.set(false)
            assertWorks(window, cli)
        }
    }

    @Test
    fun `a log that throws breaks nothing`() {
        val logHook = { throw IllegalStateException("no log") }
        Window(root, logLevel = LogLevel.TRACE, logHook = logHook).use { assertWorks(it) }
    }

    @Test
    fun `a panic in Rust is an exception, and the server goes on`() {
        Window(root).use { window ->
            val thrown = assertThrows(RuntimeException::class.java) { TestEntry.panic() }
            assertEquals(RuntimeException::class.java, thrown.javaClass)
            val place = "panic in the companion at rust/companion-jni/src/test_entry.rs:"
            assertTrue(thrown.message.orEmpty().startsWith(place), thrown.message)
            assertTrue("asked" !in thrown.message.orEmpty(), "a message may have something of a file in it")
            assertWorks(window)
        }
    }

    @Test
    fun `a panic in a thread of Rust's is an error in the log, without its message`() {
        Window(root).use { window ->
            TestEntry.panicInThread()
            val (_, line) = window.log.until("an error in the log") { (level, _) -> level == LogLevel.ERROR }
            assertTrue(line.startsWith("panic in the companion at rust/companion-jni/src/test_entry.rs:"), line)
            assertTrue("asked" !in line, "a message may have something of a file in it: $line")
            assertWorks(window)
        }
    }

    @Test
    fun `folders change although no discovery file can be written`() {
        val place = Path.of(System.getenv("TMPDIR"), "gemini", "ide").toFile()
        val other = Files.createDirectory(root.resolve("other")).toString()
        Window(root).use { window ->
            place.deleteRecursively()
            place.writeText("a file where the folder was")
            try {
                assertTrue(window.core.send(ServerMessage.Folders(listOf(root.toString(), other))))
            } finally {
                place.delete()
            }
            window.log.until("a warning") { (level, line) ->
                level == LogLevel.WARN && "Could not write the discovery file" in line
            }
            assertWorks(window)
        }
    }

    @Test
    fun `what may not be passed is named`() {
        Window(root).use { window ->
            val path = root.resolve("a.txt").toString()
            val caret = ServerMessage.Cursor(path, 0, 1)
            val thrown = assertThrows(IllegalStateException::class.java) { window.core.send(caret) }
            assertEquals("Invalid params for editor/cursor: expected a nonzero u32", thrown.message)
            assertWorks(window)
        }
    }

    @Test
    fun `text that is no UTF-8 is refused`() {
        NativeLibrary.load(pluginDirectory)
        val id = NativeCore.start("{}", SilentCallbacks)
        try {
            val text = byteArrayOf('a'.code.toByte(), 0xC3.toByte())
            val thrown = assertThrows(IllegalStateException::class.java) {
                NativeCore.request(id, "diff/accepted", "{\"filePath\": \"/a\", \"content\": \"\"}", text)
            }
            assertEquals("the text is not valid UTF-8", thrown.message)
        } finally {
            NativeCore.stop(id)
        }
    }

    @Test
    fun `a call without an argument that it needs is refused`() {
        NativeLibrary.load(pluginDirectory)
        val id = NativeCore.start("{}", SilentCallbacks)
        val calls: List<Pair<String, List<Any?>>> =
            listOf(
                "start" to listOf(null, SilentCallbacks),
                "start" to listOf("{}", null),
                "notify" to listOf(id, null, "{}", null),
                "notify" to listOf(id, "editor/opened", null, null),
                "notify" to listOf(id, "workspace/folders", "{\"paths\": [\"/a\", null]}", null),
                "request" to listOf(id, "diff/accepted", "{\"filePath\": \"/a\"}", null),
            )
        try {
            for ((name, arguments) in calls) {
                val native = NativeCore::class.java.declaredMethods.single { it.name == name }
                val thrown = runCatching { native.invoke(null, *arguments.toTypedArray()) }.exceptionOrNull()?.cause
                assertEquals(IllegalStateException::class.java, thrown?.javaClass, "$name $arguments")
            }
        } finally {
            NativeCore.stop(id)
        }
    }

    @Test
    fun `a start with wrong settings is no start`() {
        NativeLibrary.load(pluginDirectory)
        val wrong = listOf("", "{", "[]", "null", "1", "\u0000", "{}{}", "{\"workspace\":[null]}", "{\"trusted\":2}")
        for (settings in wrong) {
            assertThrows(IllegalStateException::class.java, { NativeCore.start(settings, SilentCallbacks) }, settings)
            assertNotNull(NativeCore.settingsProblem(settings), settings)
        }
        assertNotNull(NativeCompanionCore.problem(ServerSettings(listen = listOf("\uD800"))))
    }

    companion object {
        @JvmStatic
        fun whatCallbacksThrow() =
            listOf(IllegalStateException("secret"), AssertionError("secret"), StackOverflowError())
    }
}

internal object SilentCallbacks : NativeCallbacks {
    override fun request(request: Long, method: String, params: String, newContent: ByteArray?) = Unit

    override fun notify(method: String, params: String) = Unit

    override fun log(level: Int, message: String) = Unit
}
