// Ignores a held key or a second click, so that it decides once.

package dev.companion.gemini.tabs

import dev.companion.gemini.core.assertEdt
import java.awt.AWTEvent
import java.awt.event.InputEvent
import java.util.WeakHashMap

/** Ignores input right after one proposal has replaced another, before the user has seen the new one. For the EDT. */
internal class AccidentalInputFilter {
    /**
     * Ignore-until time per proposal (epoch ms). The proposals in two halves of a split are independent. An ended one
     * must not keep its text in memory.
     */
    private val unseen = WeakHashMap<Proposal, Long>()

    /** Begins to ignore input: these proposals appeared under the user's hands, or their content changed there. */
    fun expect(proposals: List<Proposal>) {
        assertEdt()
        val now = System.currentTimeMillis()
        unseen.values.removeIf { it <= now }
        proposals.associateWithTo(unseen) { now + MILLIS }
    }

    /** Returns whether [event] is too early for [proposal]. All repetitions of a held key are too early. */
    fun matches(event: AWTEvent?, proposal: Proposal): Boolean {
        assertEdt()
        val at = (event as? InputEvent)?.`when` ?: return false
        val until = unseen[proposal]?.takeIf { at < it } ?: return false
        unseen[proposal] = maxOf(until, at + MILLIS)
        return true
    }

    private companion object {
        /** In ms. Longer than the delay before a system repeats a key. */
        const val MILLIS = 1_000
    }
}
