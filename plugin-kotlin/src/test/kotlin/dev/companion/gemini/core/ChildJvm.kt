// Starts a second JVM, for tests that need a separate process.

package dev.companion.gemini.core

import java.io.BufferedReader
import java.nio.file.Path
import java.util.concurrent.TimeUnit

class ChildJvm(
    main: Class<*>,
    arguments: List<String>,
    options: List<String> = emptyList(),
) : AutoCloseable {
    private val process: Process = ProcessBuilder(
        listOf(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xcheck:jni") + options +
            listOf("-Dcompanion.plugin.home=$pluginDirectory", "-cp", System.getProperty("java.class.path")) +
            main.name + arguments,
    ).redirectErrorStream(true).start()
    private val output: BufferedReader = process.inputReader()

    /** Returns the next answer. Each line is an answer, so the JVM must not print warnings. */
    fun nextLine(): String = output.readLine() ?: error("the child has ended")

    fun sendLine(line: String) =
        process.outputWriter().run {
            write("$line\n")
            flush()
        }

    /** Returns the exit code, or null if the child still runs after [milliseconds]. */
    fun exitCode(milliseconds: Long): Int? =
        if (process.waitFor(milliseconds, TimeUnit.MILLISECONDS)) process.exitValue() else null

    /** Returns the unread output. */
    fun rest(): String = output.readText()

    /** Kills the child, and waits until it is gone. */
    override fun close() {
        process.destroyForcibly().waitFor()
    }
}
