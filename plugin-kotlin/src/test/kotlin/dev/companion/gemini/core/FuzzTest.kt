// Fuzzes the natives: with any argument, thread and time they return or refuse.

package dev.companion.gemini.core

import com.google.gson.Gson
import com.google.gson.JsonElement
import com.google.gson.JsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assertions.fail
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.lang.reflect.InvocationTargetException
import java.lang.reflect.Method
import java.lang.reflect.Modifier
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.Callable
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import kotlin.random.Random

/**
 * Makes twenty thousand calls, or a million with COMPANION_TEST_LONG=1. The JVM checks them (-Xcheck:jni). A client of
 * another server must not notice them.
 *
 * A failed call is printed with its seed. Add it to [FOUND], which is tried first.
 */
class FuzzTest {
    @TempDir
    lateinit var root: Path

    /** Must always work, whatever else fails in this process. */
    private class Bystander(root: Path) : AutoCloseable {
        private val window = Window(root)
        private val cli = Cli(window.core)
        private val file = Files.createFile(root.resolve("bystander.txt")).toString()
        private var carets = 0

        fun assertUndisturbed() {
            val opened = cli.openDiff(file, "text")
            val shown = window.show()
            assertEquals(listOf(file, "text"), listOf(shown.filePath, shown.newContent))
            opened.get()
            assertEquals(Delivery.DELIVERED, window.core.request(ServerMessage.Accepted(file, "typed"))?.delivery)
            assertEquals("typed", cli.nextNotification("ide/diffAccepted")["content"].asString)
            assertEquals(0, window.core.status.openDiffs)
            carets++
            window.core.send(ServerMessage.Focused(file))
            window.core.send(ServerMessage.Cursor(file, carets, 1))
            val line = generateSequence { cli.nextActiveFile() }.map { it.getAsJsonObject("cursor") }
            assertTrue(line.any { it != null && it["line"].asInt == carets })
        }

        override fun close() = window.close()
    }

    /** Calls natives on its own server, and on servers that have ended or never existed. */
    private inner class Caller(private val name: String) {
        private val own = Files.createDirectories(root.resolve(name))
        private val files = listOf("a.txt", "\u6587 \uD83D\uDE00").map { Files.createFile(own.resolve(it)).toString() }
        private var running = start()
        private val stopped = ArrayDeque(NONE)

        private fun start() = start(own.toString(), "jetbrains", LogLevel.TRACE)

        fun call(seed: Long) {
            val random = Random(seed)
            if (random.nextInt(RESTART) == 0) restart()
            val native = NATIVES.random(random)
            // The bystander's requests have small numbers.
            val core =
                when {
                    native.name in ANSWERS -> NONE.random(random)
                    random.nextInt(5) > 0 -> running
                    else -> stopped.random(random)
                }
            // That would end the server too early.
            if (native.name == "stop" && core == running) return
            val rest =
                if (native.name in MESSAGES && random.nextInt(10) > 0) {
                    message(random)
                } else {
                    native.parameterTypes.drop(1).map { argument(it, random) }
                }
            try {
                checked(native, core, rest, core == running)
            } catch (e: AssertionError) {
                throw AssertionError("seed $seed of $name: ${native.name} ${described(rest)}", e)
            }
        }

        fun restart() {
            stop()
            running = start()
        }

        fun stop() {
            NativeCore.stop(running)
            stopped.addLast(running)
            if (stopped.size > KEPT) stopped.removeFirst()
        }

        private fun argument(type: Class<*>, random: Random): Any? =
            when (type) {
                String::class.java -> text(random)
                ByteArray::class.java -> bytes(random)
                Array<String>::class.java -> texts(random)
                Boolean::class.javaPrimitiveType -> random.nextBoolean()
                Int::class.javaPrimitiveType -> number(random).toInt()
                else -> number(random)
            }

        /** Returns a message that the server knows, with any parameters. */
        private fun message(random: Random): List<Any?> {
            val params = values(FIELDS, random)
            return listOf(METHODS.random(random), Gson().toJson(params), bytes(random))
        }

        /** Returns values for some of the fields. */
        private fun values(fields: Map<String, JsonElement>, random: Random): Map<String, Any?> =
            fields.filterKeys { random.nextInt(4) > 0 }.mapValues { (_, example) ->
                when {
                    example.isJsonArray -> texts(random)
                    example.isJsonObject -> values(fields(listOf(example.asJsonObject)), random)
                    example.asJsonPrimitive.isNumber -> number(random)
                    example.asJsonPrimitive.isBoolean -> random.nextBoolean()
                    else -> text(random)
                }
            }

        private fun number(random: Random) =
            when (random.nextInt(3)) {
                0 -> random.nextLong(-2, 6)

                1 -> listOf(
                    Int.MIN_VALUE.toLong(),
                    Int.MAX_VALUE.toLong(),
                    Long.MIN_VALUE,
                    Long.MAX_VALUE,
                ).random(random)

                else -> random.nextLong()
            }

        private fun text(random: Random): String? =
            when (random.nextInt(10)) {
                in 0..4 -> files.random(random)
                in 5..6 -> ODD.random(random)
                7 -> "$own/${ODD.random(random)}"
                8 -> String(CharArray(random.nextInt(20)) { random.nextInt(0x10000).toChar() })
                else -> if (random.nextInt(50) == 0) "/" + "p".repeat(random.nextInt(1 shl 18)) else null
            }

        private fun bytes(random: Random): ByteArray? =
            when (random.nextInt(6)) {
                0 -> null
                1 -> ByteArray(0)
                2 -> random.nextBytes(random.nextInt(40))
                3 -> if (random.nextInt(100) == 0) ByteArray(1 shl 20) { 'x'.code.toByte() } else byteArrayOf(-1, -2)
                else -> ODD.random(random).toByteArray()
            }

        private fun texts(random: Random): Array<String?>? =
            if (random.nextInt(8) == 0) null else Array(random.nextInt(5)) { text(random) }
    }

    @Test
    fun `whatever is passed, a native returns or refuses, and nothing else happens`() {
        NativeLibrary.load(pluginDirectory)
        val calls = if (System.getenv("COMPANION_TEST_LONG") == "1") 1_000_000 else 20_000
        val seed = Random.nextLong()
        for ((name, arguments) in FOUND) {
            checked(NATIVES.single { it.name == name }, 0, arguments, false)
        }
        Bystander(Files.createDirectory(root.resolve("bystander"))).use { bystander ->
            val threads = Executors.newFixedThreadPool(THREADS)
            val callers = List(THREADS) { Caller("caller$it") }
            repeat(ROUNDS) { round ->
                val each = calls / THREADS / ROUNDS
                val tasks = callers.mapIndexed { number, caller ->
                    val first = seed + (round * THREADS + number).toLong() * each
                    Callable { for (call in first until first + each) caller.call(call) }
                }
                for (task in threads.invokeAll(tasks, LONG_PATIENCE, TimeUnit.SECONDS)) task.get()
                bystander.assertUndisturbed()
            }
            threads.shutdown()
            callers.forEach { it.stop() }
            bystander.assertUndisturbed()
        }
    }

    @Test
    fun `a start with whatever is no start`() {
        NativeLibrary.load(pluginDirectory)
        val wrong = listOf("", "{", "[]", "null", "1", "\u0000", "{}{}", "{\"workspace\":[null]}", "{\"trusted\":2}")
        for (settings in wrong) {
            assertThrows(IllegalStateException::class.java, { NativeCore.start(settings, SilentCallbacks) }, settings)
            assertNotNull(NativeCore.settingsProblem(settings), settings)
        }
        val native = NativeCore::class.java.declaredMethods.single { it.name == "start" }
        for (arguments in listOf(arrayOf(null, SilentCallbacks), arrayOf("{}", null))) {
            val thrown = runCatching { native.invoke(null, *arguments) }.exceptionOrNull()?.cause
            assertEquals(IllegalStateException::class.java, thrown?.javaClass)
        }
        for (name in ODD) {
            val id = start(name, name, LogLevel.OFF)
            assertNotNull(NativeCore.request(id, "companion/status", "{}", null))
            NativeCore.stop(id)
            NativeCompanionCore.problem(ServerSettings(allowedHosts = listOf(name)))
            assertNotNull(NativeCompanionCore.problem(ServerSettings(listen = listOf(name))), name)
        }
    }

    companion object {
        private const val THREADS = 4
        private const val ROUNDS = 10
        private const val RESTART = 1_000
        private const val KEPT = 20
        private const val LONG_PATIENCE = 1_800L

        /** Natives with the number of a server or a request. */
        private val NATIVES: List<Method> =
            NativeCore::class.java.declaredMethods
                .filter {
                    Modifier.isNative(it.modifiers) &&
                        it.parameterTypes.firstOrNull() == Long::class.javaPrimitiveType
                }.sortedBy { it.name }

        /** Numbers that belong to no server and no request. */
        private val NONE = listOf(0L, -1L, 1L shl 40, Long.MIN_VALUE, Long.MAX_VALUE)

        /** Natives that accept a request that has ended or never existed. */
        private val ANSWERS = listOf("completeRequest", "failRequest")

        /** Natives that take a message of the editor's protocol. */
        private val MESSAGES = listOf("notify", "request")

        /** The code in the rows of the editor's messages, in its protocol: methods, and parameters in JSON. */
        private val ROWS: List<List<String>> =
            Path
                .of("../docs/editor-protocol.md")
                .toFile()
                .readText()
                .substringAfter("## From the editor")
                .substringBefore("## To the editor")
                .lines()
                // A diagnosis would take seconds each time.
                .filter { it.startsWith("| `") && "companion/diagnosis" !in it }
                .map { row -> row.substringBefore(" | ").split('`').filterIndexed { index, _ -> index % 2 == 1 } }

        private val METHODS = ROWS.flatMap { it.dropLast(1) }

        /** An example of each parameter. */
        private val FIELDS = fields(ROWS.map { Gson().fromJson(it.last(), JsonObject::class.java) })

        private fun fields(examples: List<JsonObject>): Map<String, JsonElement> =
            examples.flatMap { it.entrySet() }.associate { it.toPair() }

        /** Half and swapped surrogate pairs, NUL, invalid and unusual paths. */
        private val ODD =
            listOf(
                "",
                "a",
                "/",
                "/a\u0000b",
                "\u0000",
                "\uD800",
                "/\uDC00\uD800",
                "/\uD83D\uDE00",
                "../../etc/passwd",
                "/dev/zero",
                "/proc/self/mem",
                "\\\\server\\share",
                "C:\\a",
                "/a:/b",
                "/\uFFFF",
                "/a\nb",
                "\uFEFF",
            )

        /** Calls that failed before: the native, and its arguments after the number of the server. */
        private val FOUND: List<Pair<String, List<Any?>>> =
            listOf(
                "notify" to listOf(null, "{}", null),
                "notify" to listOf("editor/opened", null, null),
                "notify" to listOf("workspace/folders", "{\"paths\": [\"/a\", null]}", null),
                "request" to listOf("diff/accepted", "{\"filePath\": \"/a\"}", null),
            )

        /** Checks that the call returns or is refused. A number without a server must be refused. */
        private fun checked(native: Method, core: Long, rest: List<Any?>, runs: Boolean) {
            try {
                native.invoke(null, core, *rest.toTypedArray())
            } catch (e: InvocationTargetException) {
                val thrown = e.cause
                if (thrown?.javaClass != IllegalStateException::class.java) fail<Nothing>("$thrown", thrown)
                return
            }
            val silent = native.name == "stop" || native.name in ANSWERS
            assertTrue(runs || silent, "a server that does not run has answered")
        }

        private fun start(root: String, ide: String, logLevel: LogLevel): Long {
            val settings = ServerSettings(listOf(root), ide, ide, logLevel = logLevel)
            return NativeCore.start(Gson().toJson(settings), SilentCallbacks)
        }

        private fun described(arguments: List<Any?>) =
            arguments.joinToString { argument ->
                when (argument) {
                    is ByteArray -> "${argument.size} bytes"
                    is Array<*> -> argument.contentToString()
                    else -> argument.toString()
                }.take(200).map { if (it in ' '..'~') it.toString() else "\\u%04x".format(it.code) }.joinToString("")
            }
    }
}
