// Tests that a dead disk delays only the calls that use it, and none forever.

package dev.companion.gemini.core

import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.condition.EnabledOnOs
import org.junit.jupiter.api.condition.OS
import org.junit.jupiter.api.io.TempDir
import java.nio.file.Files
import java.nio.file.Path
import kotlin.system.measureTimeMillis

@EnabledOnOs(OS.LINUX, disabledReason = "Its disks are Linux's.")
class DeadDiskTest {
    @TempDir
    lateinit var root: Path

    /** Runs a program whose folder for temporary files is on a [Disk], and returns its output. */
    private fun run(main: Class<*>): List<String> {
        val disk = Disk(root)
        assumeTrue(disk.mounts(), "no FUSE and no namespaces here")
        val tmp = mapOf("TMPDIR" to disk.folder.toString())
        return ChildJvm(main, listOf(root.toString()), prefix = disk.mounting, environment = tmp).use { child ->
            val said = generateSequence { child.nextLine() }.takeWhile { it != "end" }.toList()
            assertEquals(0, child.exitCode(WAIT_SECONDS * 1000), said.toString())
            said
        }
    }

    @AfterEach
    fun endDisk() = Disk(root).signal("KILL")

    @Test
    fun `it holds up no other window, no start, no stop and no exit`() {
        val (active, start, stops, file) = run(FiveWindows::class.java)
        assertEquals(root.resolve("good.txt").toString(), active)
        assertTrue(start.toInt() < IN_TIME, "the start took $start ms")
        assertTrue(stops.split(' ').all { it.toInt() < IN_TIME }, "the stops took $stops ms")
        assertEquals("no file, no threads", file)
    }

    companion object {
        /** In milliseconds. More than the server's 2 s and the time that threads need. */
        const val IN_TIME = 5_000
    }
}

/** A disk that can stop answering, like a network disk. A process serves it. */
class Disk(root: Path) {
    val folder: Path = Files.createDirectories(root.resolve("disk"))
    val backing: Path = Files.createDirectories(root.resolve("backing"))
    private val pid = root.resolve("disk.pid")

    /** The prefix of a command that uses the disk. */
    val mounting = listOf(
        *"unshare --user --map-root-user --mount --propagation private sh -c".split(' ').toTypedArray(),
        "{ bindfs -f -s $backing $folder </dev/null >/dev/null 2>&1 & echo $! > $pid; } && " +
            "until mountpoint -q $folder; do kill -0 $! || exit 1; sleep 0.01; done && exec \"$@\"",
        "sh",
    )

    fun mounts() = ProcessBuilder(mounting + "true").start().waitFor() == 0

    /**
     * Stops answering, so that later accesses wait. Does not stop within an answer, because such a wait can't be
     * interrupted.
     */
    fun stop() {
        while (true) {
            while (process("wchan") != "fuse_dev_do_read") Thread.onSpinWait()
            val before = process("io").lines().first()
            signal("STOP")
            while (process("status").lines().none { it.startsWith("State:\tT") }) Thread.onSpinWait()
            if (process("io").lines().first() == before) return
            goOn()
        }
    }

    fun goOn() = signal("CONT")

    fun signal(name: String) {
        if (Files.exists(pid)) ProcessBuilder("kill", "-$name", number()).start().waitFor()
    }

    private fun process(file: String) = Files.readString(Path.of("/proc", number(), file))

    private fun number() = Files.readString(pid).trim()
}

/** Four windows whose disk dies, and one on another disk. */
object FiveWindows {
    @JvmStatic
    fun main(arguments: Array<String>) {
        val root = Path.of(arguments.single())
        val disk = Disk(root)
        val windows = List(WINDOWS) { Window(Files.createDirectories(disk.folder.resolve("project-$it"))) }
        val good = Window(root)
        val cli = Cli(good.core)
        disk.stop()
        for (window in windows) window.core.send(ServerMessage.Focused(window.root.resolve("a.txt").toString()))
        // The result is right in any order. The pause makes it likely that all of them have accessed the disk.
        Thread.sleep(500)
        val file = Files.createFile(root.resolve("good.txt")).toString()
        good.core.send(ServerMessage.Focused(file))
        println(cli.nextActiveFile()["path"].asString)
        val late: Window
        println(measureTimeMillis { late = Window(root) })
        println((windows + good + late).map { measureTimeMillis { it.close() } }.joinToString(" "))
        disk.goOn()
        while (threads() > 0) Thread.onSpinWait()
        val files = Files.list(disk.backing.resolve("gemini/ide")).use { it.count() }
        println(if (files == 0L) "no file, no threads" else "$files files")
        println("end")
    }

    /** Returns Rust's threads, which have their own names. */
    private fun threads() =
        Files.list(Path.of("/proc/self/task")).use { list ->
            list.toList().count { thread ->
                val name = runCatching { Files.readString(thread.resolve("comm")) }.getOrDefault("")
                name.startsWith("gemini-") || name.startsWith("notify-")
            }
        }

    private const val WINDOWS = 4
}
