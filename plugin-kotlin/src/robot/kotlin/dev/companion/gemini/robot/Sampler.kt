// Owns how long the plugin keeps the EDT while the IDE starts: looks at the EDT's stack about once in a millisecond.

package dev.companion.gemini.robot

import java.awt.EventQueue
import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.atomic.AtomicReference
import kotlin.concurrent.thread

internal object Sampler {
    private val edt = AtomicReference<Thread>()
    private val looks = AtomicLong()
    private val pluginNanos = AtomicLong()
    private val longestNanos = AtomicLong()

    /** Looks until the IDE ends, if the script asks for it. */
    fun start() {
        if (!java.lang.Boolean.getBoolean("robot.sample")) return
        EventQueue.invokeLater { edt.set(Thread.currentThread()) }
        thread(name = "robot sampler", isDaemon = true, priority = Thread.MAX_PRIORITY) { sample() }
    }

    /** In ns: all the time, and the longest that it was there at one go. */
    fun result(): Map<String, Long> =
        mapOf("looks" to looks.get(), "total" to pluginNanos.get(), "longest" to longestNanos.get())

    private fun sample() {
        var last = System.nanoTime()
        var atOneGo = 0L
        while (true) {
            Thread.sleep(1)
            val isThere = edt.get()?.stackTrace.orEmpty().any { it.isOfPlugin() }
            val now = System.nanoTime()
            atOneGo = if (isThere) atOneGo + now - last else 0
            if (isThere) pluginNanos.addAndGet(now - last)
            longestNanos.accumulateAndGet(atOneGo, ::maxOf)
            looks.incrementAndGet()
            last = now
        }
    }

    private fun StackTraceElement.isOfPlugin() =
        className.startsWith("dev.companion.gemini.") && !className.startsWith("dev.companion.gemini.robot.")
}
