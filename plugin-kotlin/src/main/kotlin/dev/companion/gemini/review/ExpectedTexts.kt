// Keeps accepted texts until the CLI has written them.

package dev.companion.gemini.review

import com.intellij.notification.Notification
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.tabs.Proposal
import dev.companion.gemini.target.TextForm
import java.util.concurrent.TimeUnit

/**
 * The server looks whether the CLI writes a text, and reports the outcome. After the end of the server the plugin looks
 * itself, because the CLI may just be writing. For the EDT.
 */
internal class ExpectedTexts(
    private val queue: ProposalQueue,
    /** The pauses before the plugin's own looks at a file. */
    private val pausesMillis: List<Long>,
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
            look(expected, pausesMillis)
        }
    }

    private fun look(expected: Expected, pauses: List<Long>) {
        val path = expected.proposal.target.path
        val work = {
            val disk = FileOnDisk.text(path)
            // Gemini CLI's tool for edits keeps the end of the last line as it is in the file.
            val isWritten = disk != null &&
                TextForm.plain(disk).removeSuffix("\n").contentEquals(expected.text.removeSuffix("\n"))
            queue.later {
                when {
                    expected !in texts || expected.isOffered -> Unit

                    isWritten -> end(expected)

                    pauses.size > 1 -> look(expected, pauses.drop(1))

                    // The next server may still send the acceptance.
                    expected.proposal.isQueued -> look(expected, listOf(longer(pauses.single())))

                    else -> report(expected)
                }
            }
        }
        val timers = AppExecutorUtil.getAppScheduledExecutorService()
        timers.schedule(work, pauses.first(), TimeUnit.MILLISECONDS)
    }

    /** The CLI may not reconnect for days. */
    private fun longer(pauseMillis: Long) = minOf(2 * pauseMillis, LONGEST_PAUSE_MILLIS)

    companion object {
        /** As in the server, which looks for ten seconds. */
        val PAUSES_MILLIS = listOf<Long>(100, 200, 700, 1_000, 1_000, 2_000, 5_000)
        private const val LONGEST_PAUSE_MILLIS = 60_000L
    }
}
