// Samples the EDT's stack about once per millisecond, to measure the plugin's share.

package dev.companion.gemini.robot

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.concurrent.thread

internal object Sampler {
    private val isStarted = AtomicBoolean()

    /** The time in ns for each of the plugin's methods, and for what each has called. */
    private val nanos = ConcurrentHashMap<String, Long>()

    /**
     * The times in ns from the first to the last sample in which a method of the plugin kept the EDT. They are a
     * millisecond too short: the time before the first sample may be the machine's, which runs this thread late.
     */
    private val pauses = HashMap<String, MutableList<Long>>()

    /** Samples until the IDE ends, if the script asks for it. */
    fun start() {
        if (!java.lang.Boolean.getBoolean("robot.sample") || !isStarted.compareAndSet(false, true)) return
        val edt = Thread.getAllStackTraces().keys.first { it.name.startsWith("AWT-EventQueue") }
        thread(name = "robot sampler", isDaemon = true, priority = Thread.MAX_PRIORITY) { sample(edt) }
    }

    fun result(): Map<String, Long> = nanos.toMap()

    /** Returns the times since the last call. */
    fun takePauses(): Map<String, List<Long>> = synchronized(pauses) { pauses.toMap().also { pauses.clear() } }

    private fun sample(edt: Thread) {
        var last = System.nanoTime()
        var entered = last
        var entry: String? = null
        while (true) {
            Thread.sleep(1)
            val stack = edt.stackTrace
            val own = if (stack.any { it.isOfRobot() }) -1 else stack.indexOfFirst { it.isOfPlugin() }
            val now = System.nanoTime()
            val outermost = if (own < 0) null else stack.outermost()
            if (outermost != entry) {
                entry?.let { synchronized(pauses) { pauses.getOrPut(it) { ArrayList() } += last - entered } }
                entered = now
            }
            entry = outermost
            if (outermost != null) {
                val name = listOfNotNull(stack[own], stack.getOrNull(own - 1)).joinToString(" → ") { it.name() }
                nanos.merge(name, now - last, Long::plus)
            }
            last = now
        }
    }

    private fun StackTraceElement.name() = className.substringAfterLast('.') + '.' + methodName

    private fun Array<StackTraceElement>.outermost(): String {
        val ours = filter { it.isOfPlugin() }
        return (ours.lastOrNull { !it.isLambda() } ?: ours.last()).name()
    }

    /** The class of a lambda has another name in each run. */
    private fun StackTraceElement.isLambda() = "\$\$Lambda" in className

    private fun StackTraceElement.isOfRobot() = className.startsWith("dev.companion.gemini.robot.")

    private fun StackTraceElement.isOfPlugin() = className.startsWith("dev.companion.gemini.")
}
