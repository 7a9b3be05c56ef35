// Samples the EDT's stack about once per millisecond, to measure the plugin's share of the start.

package dev.companion.gemini.robot

import java.awt.EventQueue
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicReference
import kotlin.concurrent.thread

internal object Sampler {
    private val edt = AtomicReference<Thread>()

    /** The time in ns for each of the plugin's methods that the platform has called. */
    private val nanos = ConcurrentHashMap<String, Long>()

    /** Samples until the IDE ends, if the script asks for it. */
    fun start() {
        if (!java.lang.Boolean.getBoolean("robot.sample")) return
        EventQueue.invokeLater { edt.set(Thread.currentThread()) }
        thread(name = "robot sampler", isDaemon = true, priority = Thread.MAX_PRIORITY) { sample() }
    }

    fun result(): Map<String, Long> = nanos.toMap()

    private fun sample() {
        var last = System.nanoTime()
        while (true) {
            Thread.sleep(1)
            val stack = edt.get()?.stackTrace.orEmpty()
            val entry = if (stack.any { it.isOfRobot() }) null else stack.lastOrNull { it.isOfPlugin() }
            val now = System.nanoTime()
            if (entry != null) {
                val name = entry.className.substringAfterLast('.') + '.' + entry.methodName
                nanos.merge(name, now - last, Long::plus)
            }
            last = now
        }
    }

    private fun StackTraceElement.isOfRobot() = className.startsWith("dev.companion.gemini.robot.")

    private fun StackTraceElement.isOfPlugin() = className.startsWith("dev.companion.gemini.")
}
