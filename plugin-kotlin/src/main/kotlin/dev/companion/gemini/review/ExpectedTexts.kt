// Keeps accepted texts until the CLI has written them.

package dev.companion.gemini.review

import com.intellij.notification.Notification
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.platform.after
import dev.companion.gemini.tabs.Proposal
import dev.companion.gemini.target.TextForm

/**
 * The server looks whether the CLI writes a text, and reports the outcome. After the end of the server the plugin looks
 * itself, because the CLI may just be writing. For the EDT.
 */
internal class ExpectedTexts(
    private val queue: ProposalQueue,
    /** The pause before the plugin's last own look at a file. Each pause is twice as long as the one before. */
    private val longestPauseMillis: Long,
    /** Offers a text to the user, by a notification or in its tab. */
    private val offer: (Proposal) -> Notification?,
    /** Ends a proposal whose accepted text is in the file. Called with whether the user has edited it since. */
    private val finish: (Proposal, Boolean) -> Unit,
) {
    /** [proposal] may have ended. */
    private class Expected(val proposal: Proposal) {
        /** The accepted text. */
        val text: CharSequence = proposal.document.immutableCharSequence
        var isOffered = false

        /** Whether the plugin itself looks for the text. */
        var isSought = false
        var notice: Notification? = null
    }

    /** The oldest is first. */
    private val texts = ArrayList<Expected>()

    fun add(proposal: Proposal) {
        assertEdt()
        // The server looks for no earlier text of the file any more.
        texts.removeIf { it.isOffered && it.proposal.path == proposal.path }
        texts += Expected(proposal)
    }

    fun remove(proposal: Proposal) {
        assertEdt()
        texts.removeIf { it.proposal === proposal }
    }

    /** The CLI has written the text that was accepted last, perhaps after [unwritten]. */
    fun written(path: String) = texts.findLast { it.proposal.path == path }?.let(::end)

    private fun end(expected: Expected) {
        texts -= expected
        expected.notice?.expire()
        finish(expected.proposal, !expected.proposal.document.immutableCharSequence.contentEquals(expected.text))
    }

    /** The CLI has not written the oldest text of the present server that the user does not know of. */
    fun unwritten(path: String) {
        val late = texts.find { it.proposal.path == path && !it.isOffered && !it.proposal.core.isClosed }
        late?.let(::report)
    }

    private fun report(expected: Expected) {
        expected.isOffered = true
        expected.notice = offer(expected.proposal)
    }

    /** Looks for the texts of servers that have ended. */
    fun lookWithoutServer() {
        assertEdt()
        texts.removeIf { it.proposal.core.isClosed && it.isOffered }
        for (expected in texts.filter { it.proposal.core.isClosed && !it.isSought }) {
            expected.isSought = true
            look(expected, maxOf(longestPauseMillis / 64, 1))
        }
    }

    private fun look(expected: Expected, pauseMillis: Long) {
        val path = expected.proposal.target.path
        after(pauseMillis) {
            val disk = FileOnDisk.text(path)
            // Gemini CLI's tool for edits keeps the end of the last line as it is in the file.
            val isWritten = disk != null &&
                TextForm.plain(disk).removeSuffix("\n").contentEquals(expected.text.removeSuffix("\n"))
            queue.later {
                // The next server may still send the acceptance of a queued one.
                val isLast = pauseMillis >= longestPauseMillis && !expected.proposal.isQueued
                when {
                    expected !in texts || expected.isOffered -> Unit
                    isWritten -> end(expected)
                    isLast -> report(expected)
                    else -> look(expected, minOf(2 * pauseMillis, QUEUED_PAUSE_MILLIS))
                }
            }
        }
    }

    companion object {
        /** The looks take 13 s. The server looks for ten seconds. */
        const val LONGEST_PAUSE_MILLIS = 6_400L

        /** A queued acceptance may wait for hours. */
        private const val QUEUED_PAUSE_MILLIS = 60_000L
    }
}
