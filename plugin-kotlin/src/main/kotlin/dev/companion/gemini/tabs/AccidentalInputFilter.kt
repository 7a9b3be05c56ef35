// Ignores a held key or a second click, so that it decides once.

package dev.companion.gemini.tabs

import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.review.Proposal
import java.awt.AWTEvent
import java.awt.event.InputEvent

/**
 * A proposal may replace another one that the user is about to decide, before the user has seen it.
 * For the EDT.
 */
internal class AccidentalInputFilter {
    /** Ignore-until time per proposal (epoch ms). Each has its own: a change in one half of a split does not affect the other. */
    private val unseen = HashMap<Proposal, Long>()

    /** Begins to ignore input: these proposals appeared under the user’s hands, or offer something else there. */
    fun expect(proposals: List<Proposal>) {
        assertEdt()
        val now = System.currentTimeMillis()
        unseen.values.removeIf { it <= now }
        proposals.associateWithTo(unseen) { now + MILLIS }
    }

    /**
     * Whether [event] is too early to concern [proposal]. While a key is held, all its repetitions
     * are.
     */
    fun matches(event: AWTEvent?, proposal: Proposal): Boolean {
        assertEdt()
        val at = (event as? InputEvent)?.`when` ?: return false
        val until = unseen[proposal]?.takeIf { at < it } ?: return false
        unseen[proposal] = maxOf(until, at + MILLIS)
        return true
    }

    private companion object {
        /** In ms. Longer than a system waits before it repeats a key. */
        const val MILLIS = 1_000
    }
}
