// Tests that servers end before their process.

package dev.companion.gemini.project

import dev.companion.gemini.RecordingCore
import dev.companion.gemini.core.ServerSettings
import org.junit.Assert.assertEquals
import org.junit.Test
import java.util.concurrent.TimeUnit
import kotlin.system.exitProcess

class ProcessEndTest {
    @Test
    fun `a process that ends itself stops its server`() = assertEquals("started\nstopped\n", output("exit") {})

    @Test
    fun `so does one that is asked to end`() =
        assertEquals("started\nstopped\n", output("wait") { it.toHandle().destroy() })

    @Test
    fun `one that has stopped it before ends as well`() = assertEquals("started\nstopped\n", output("stop") {})

    private fun output(how: String, onceStarted: (Process) -> Unit): String {
        val java = ProcessHandle.current().info().command().get()
        val main = Main::class.java.name
        val process = ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), main, how).start()
        try {
            val reader = process.inputStream.bufferedReader()
            val first = reader.readLine()
            onceStarted(process)
            val rest = reader.readText()
            check(process.waitFor(10, TimeUnit.SECONDS)) { "does not end" }
            return "$first\n$rest"
        } finally {
            process.destroyForcibly()
        }
    }

    object Main {
        @JvmStatic
        fun main(arguments: Array<String>) {
            val core = object : RecordingCore() {
                override fun close() {
                    Thread.sleep(CLOSE_MILLISECONDS)
                    println("stopped")
                }
            }
            val slot = CoreSlot { core }
            slot.bring(ServerSettings())
            println("started")
            when (arguments.single()) {
                "stop" -> slot.end()
                "wait" -> Thread.sleep(Long.MAX_VALUE)
            }
            exitProcess(0)
        }

        private const val CLOSE_MILLISECONDS = 300L
    }
}
