// Owns the rule that who holds a key or clicks twice has decided once.

package dev.companion.gemini.diff

import dev.companion.gemini.core.assertEdt
import java.awt.AWTEvent
import java.awt.event.InputEvent

/** After a decision the next proposal shows where the decided one was, and nobody has seen it yet. For the EDT. */
internal class Slips {
    private var until = 0L

    /** Another proposal has come under the user's hands. */
    fun expect() {
        assertEdt()
        until = System.currentTimeMillis() + MILLIS
    }

    /** Whether [event] is too early to be about what shows now. While a key is held, all its repetitions are. */
    fun isOne(event: AWTEvent?): Boolean {
        assertEdt()
        val at = (event as? InputEvent)?.`when` ?: return false
        if (at >= until) return false
        until = maxOf(until, at + MILLIS)
        return true
    }

    private companion object {
        /** Longer than a system waits before it repeats a key. */
        const val MILLIS = 1_000
    }
}
