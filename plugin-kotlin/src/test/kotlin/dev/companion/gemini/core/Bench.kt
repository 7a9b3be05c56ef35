// Measures the boundary to Rust, for `cargo xtask bench-jni`: an event, and a proposal.

package dev.companion.gemini.core

import java.io.DataInputStream
import java.net.Socket
import java.nio.file.Files
import java.nio.file.Path
import java.util.logging.Level

object Bench {
    private const val EVENTS = 1_000_000

    /** The number of calls, by the size of the proposal in KB. */
    private val CALLS = mapOf(2 to 4_000, 1_024 to 400)

    /** `gemini-companion serve`, with an editor at stdin and stdout that shows every proposal at once. */
    private class Serve(
        program: String,
        root: Path,
    ) : AutoCloseable {
        private val process = ProcessBuilder(program, "serve", "--workspace", root.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start()
        private val output = process.inputStream.bufferedReader()
        private val ready = output.readLine()
        val port = Regex(""""port":(\d+)""").find(ready)!!.groupValues[1].toInt()
        val token = Regex(""""authToken":"(\w+)"""").find(ready)!!.groupValues[1]

        init {
            val editor = Thread {
                for (line in output.lineSequence()) {
                    val id = Regex("""^\{"jsonrpc":"2.0","id":(\d+)""").find(line)?.groupValues?.get(1) ?: continue
                    process.outputStream.write("""{"jsonrpc":"2.0","id":$id,"result":{}}${'\n'}""".toByteArray())
                    process.outputStream.flush()
                }
            }
            editor.isDaemon = true
            editor.start()
        }

        override fun close() {
            process.outputStream.close()
            process.waitFor()
        }
    }

    /** A client on one connection, as cheap as possible. */
    private class Client(
        private val port: Int,
        private val token: String,
    ) {
        private val socket = Socket("127.0.0.1", port).apply { tcpNoDelay = true }
        private val input = DataInputStream(socket.getInputStream().buffered())
        private val calls: Map<Int, ByteArray>

        init {
            val initialize = """{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"""
            socket.getOutputStream().write(post(initialize, ""))
            val session = reply().lines().first { it.startsWith("mcp-session-id") } + "\r\n"
            calls = CALLS.mapValues { (kilobytes, _) ->
                val text = "    fun handle(request: Request) = Unit\\n".repeat(kilobytes * 25)
                val arguments = """{"filePath":"/p/Main.kt","newContent":"$text"}"""
                val params = """{"name":"openDiff","arguments":$arguments}"""
                post("""{"jsonrpc":"2.0","id":1,"method":"tools/call","params":$params}""", session)
            }
        }

        /** Returns the duration of a proposal, in ns. */
        fun openDiff(kilobytes: Int): Long {
            val call = calls.getValue(kilobytes)
            val begun = System.nanoTime()
            socket.getOutputStream().write(call)
            val reply = reply()
            val took = System.nanoTime() - begun
            check(""""result":{"content":[]}""" in reply) { reply }
            return took
        }

        private fun post(body: String, headers: String): ByteArray {
            val head = "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:$port\r\nauthorization: Bearer $token\r\n"
            return "$head${headers}content-length: ${body.length}\r\n\r\n$body".toByteArray()
        }

        private fun reply(): String {
            val head = StringBuilder()
            while (!head.endsWith("\r\n\r\n")) head.append(input.readByte().toInt().toChar())
            val length = Regex("content-length: (\\d+)").find(head)!!.groupValues[1].toInt()
            return head.toString() + String(input.readNBytes(length))
        }
    }

    @JvmStatic
    fun main(arguments: Array<String>) {
        val root = Files.createTempDirectory("bench-jni")
        NativeLibrary.load(pluginDirectory)
        val log = { level: Level, line: String -> System.err.println("$level $line") }
        NativeCompanionCore.start(Window.settings(root, LogLevel.WARN), ImmediateEditor(), log).use { core ->
            measureEvents(core, Files.createFile(root.resolve("Main.kt")).toString())
            Serve(arguments.single(), root).use { serve ->
                val jvm = Client(core.status.port, core.token)
                measureCalls(jvm, Client(serve.port, serve.token))
            }
        }
        root.toFile().deleteRecursively()
    }

    private fun measureEvents(core: CompanionCore, file: String) {
        core.send(ServerMessage.Focused(file))
        val rounds = List(10) {
            val begun = System.nanoTime()
            for (line in 1..EVENTS) core.send(ServerMessage.Cursor(file, line, 1))
            (System.nanoTime() - begun).toDouble() / EVENTS
        }
        // The first rounds are for warm-up.
        val warm = rounds.drop(rounds.size / 2).sorted()
        println("an event: %.0f ns (%.0f-%.0f)".format(warm[warm.size / 2], warm.first(), warm.last()))
    }

    /** Measures both alternately, so that a slow phase of the machine affects both. */
    private fun measureCalls(jvm: Client, serve: Client) {
        val median = { of: List<Long> -> of.sorted()[of.size / 2] / 1000.0 }
        for ((kilobytes, count) in CALLS) {
            val times = List(count) { jvm.openDiff(kilobytes) to serve.openDiff(kilobytes) }.drop(count / 4)
            val (byJvm, byServe) = median(times.map { it.first }) to median(times.map { it.second })
            val ratio = byJvm / byServe
            println(
                "openDiff of $kilobytes KB, p50: JVM %.0f µs, serve %.0f µs, ratio %.2f".format(byJvm, byServe, ratio),
            )
        }
    }
}
