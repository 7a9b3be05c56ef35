// Tests that proposals stay open, with the user's edits, when the next server follows.

package dev.companion.gemini.review

import com.intellij.util.ui.UIUtil
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.belowDialog
import dev.companion.gemini.core.CloseDiff
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.core.ReasonArrival
import dev.companion.gemini.core.ResumedProposal
import dev.companion.gemini.offEdt
import dev.companion.gemini.tabs.Proposal

class RestartTest : QuestionTestCase() {
    private val next = RecordingCore()
    private val nextCalls get() = next.calls.map { it.replace(root.path + "/", "") }

    override fun tearDown() {
        next.close()
        super.tearDown()
    }

    /** Opens a proposal that has the name of its file. */
    private fun proposed(name: String) = proposedBy(core, name)

    private fun proposedBy(core: RecordingCore, name: String): View {
        val diff = diff(path(name), "two").copy(diff = name, reason = ReasonArrival.NOW)
        assertEquals(Answer.DONE, answer { service.open(core, it, diff) })
        return view(name)
    }

    /** The next server starts, and takes up these proposals. */
    private fun restart(vararg resumed: String) {
        core.close()
        startNext(*resumed)
    }

    private fun startNext(vararg resumed: String) {
        next.resumable += resumed.map { ResumedProposal(it, 2, ReasonArrival.NEXT_PROMPT) }
        offEdt { service.follow(next) }
    }

    /** Waits until all proposals have followed the next server or have ended. */
    private fun settled() =
        await("the end of the restart") { service.waiting().none { it.core.isClosed || it.deferred != null } }

    fun `test a private proposal has no field for a reason after a restart either`() {
        val diff = diff(path("a.key"), "two").copy(diff = "a.key", reason = ReasonArrival.NEVER, private = true)
        assertEquals(Answer.DONE, answer { service.open(core, it, diff) })
        val proposal = checkNotNull(view("a.key").file.proposal)
        restart("a.key")
        settled()
        assertEquals(2, proposal.cli)
        assertFalse(proposal.takesReason)
    }

    fun `test a proposal that the next server does not take up ends, and the text is offered`() {
        val views = listOf("kept.txt", "refused.txt").map(::proposed)
        views.forEach { it.type("mine") }
        restart("kept.txt")
        await("the end of one") { !views[1].isOpen }
        assertEquals("mine", givenBack())
        assertTrue(views[0].isOpen)
        assertEquals(listOf("resume kept.txt two refused.txt two"), nextCalls)
    }

    fun `test decisions without a server wait for the next one`() {
        val views = listOf("accepted.txt", "rejected.txt", "closed.txt").map(::proposed)
        core.close()
        views[0].type("mine")
        views[0].click("Accept")
        service.reject(checkNotNull(views[1].file.proposal), "because")
        views[2].close()
        assertTrue(views[0].isOpen)
        assertEquals("The companion is restarting. It gets your decision as soon as it runs.", text(views[0]))
        assertEquals("nothing is to be reviewed", emptyList<String>(), notices)
        startNext("accepted.txt", "rejected.txt", "closed.txt")
        await("the decisions") { service.waiting().isEmpty() }
        val decisions = listOf("accepted accepted.txt 'mine'", "rejected rejected.txt because", "rejected closed.txt")
        assertEquals(decisions, nextCalls.drop(1))
        assertFalse(views.any { it.isOpen })
        assertEquals(emptyList<String>(), calls)
        assertEquals(emptyList<String>(), notices)
    }

    fun `test decisions while the server starts are sent after the start`() {
        next.isStarted = false
        val views = listOf("accepted.txt", "rejected.txt").map { proposedBy(next, it) }
        views[0].click("Accept")
        service.reject(checkNotNull(views[1].file.proposal), "because")
        next.isStarted = true
        restart()
        await("the decisions") { service.waiting().isEmpty() }
        assertEquals(listOf("accepted accepted.txt 'two'", "rejected rejected.txt because"), nextCalls.drop(1))
    }

    fun `test the last decision counts`() {
        val view = proposed("a.txt")
        core.close()
        view.click("Accept")
        service.reject(checkNotNull(view.file.proposal))
        startNext("a.txt")
        await("the decision") { !view.isOpen }
        assertEquals(listOf("rejected a.txt"), nextCalls.drop(1))
    }

    fun `test an acceptance that no server takes stays with its text`() {
        val view = proposed("a.txt")
        core.close()
        view.click("Accept")
        startNext()
        val proposal = checkNotNull(view.file.proposal)
        await("the result") { proposal.state == Proposal.State.UNDELIVERED }
        assertEquals(Delivery.UNKNOWN, proposal.delivery)
        assertEquals("no decision about a newer proposal", 1, next.calls.size)
        next.close()
        val last = RecordingCore()
        val open = proposedBy(last, "b.txt")
        offEdt { service.follow(last) }
        assertTrue(open.isOpen)
        assertTrue("it stays over a further restart", view.isOpen)
        view.click("Close")
        assertFalse(view.isOpen)
        last.close()
    }

    fun `test an acceptance that no server follows stays with its text`() {
        val view = proposed("a.txt")
        core.close()
        view.click("Accept")
        offEdt { service.follow(null) }
        val proposal = checkNotNull(view.file.proposal)
        await("the result") { proposal.state == Proposal.State.UNDELIVERED }
        assertTrue(view.isOpen)
        assertEquals("two", text(view.right))
        view.click("Close")
    }

    fun `test a reason that no server takes is offered back`() {
        for (follow in listOf<() -> Unit>({ startNext() }, { offEdt { service.follow(null) } })) {
            core = RecordingCore()
            val view = proposed("${root.name}.txt")
            core.close()
            service.reject(checkNotNull(view.file.proposal), "because")
            val before = notified.size
            follow()
            await("the end") { !view.isOpen }
            assertEquals(1, notified.size - before)
            val text = "does not get your reason for ${root.name}.txt: no companion has the proposal any more."
            assertTrue(notified.last().content, text in notified.last().content)
        }
    }

    fun `test an acceptance that waits for its CLI stays with its text until the CLI writes it`() {
        lookSoon()
        val (waiting, lost) = listOf("a.txt", "lost.txt").map(::proposed)
        lost.type("mine")
        lost.click("Accept")
        core.delivery = Delivery.QUEUED
        waiting.click("Accept")
        restart()
        await("the last look for the other text") { notices.isNotEmpty() }
        assertEquals("mine", givenBack())
        assertEquals("Accepted, but the CLI is not connected. It writes the file after it reconnects.", text(waiting))
        file("a.txt", "two")
        await("the end") { !waiting.isOpen }
    }

    fun `test closing the tab leaves a decision that waits`() {
        val views = listOf("a.txt", "b.txt", "c.txt").map(::proposed)
        core.close()
        views[0].click("Accept")
        views[0].close()
        views[1].click("Accept")
        answering(1)
        service.rejectAll()
        startNext("a.txt", "b.txt", "c.txt")
        await("the decisions") { service.waiting().isEmpty() }
        assertEquals(listOf("accepted a.txt 'two'", "accepted b.txt 'two'", "rejected c.txt"), nextCalls.drop(1))
    }

    fun `test a file that changes before the next server asks the user again`() {
        val file = file("a.txt", "one")
        val view = proposed("a.txt")
        core.close()
        view.click("Accept")
        file.writeText("other")
        virtualFile(file).refresh(false, false)
        await("the change") { view.file.proposal?.isStale == true }
        startNext("a.txt")
        await("a question") { questions.isNotEmpty() }
        assertEquals(listOf("resume a.txt two"), nextCalls)
    }

    fun `test the next server does not wait for a dialog`() {
        val view = proposed("a.txt")
        belowDialog {
            restart("a.txt")
            assertEquals(listOf("resume a.txt two"), nextCalls)
            val answer = Answer()
            service.close(next, answer, CloseDiff(path("a.txt")))
            await("the text") { answer.text != null }
            assertEquals("done two", answer.text)
        }
        await("the end") { !view.isOpen }
        assertEquals("nothing is rejected that a CLI closed", 1, next.calls.count { "rejected" !in it })
    }

    fun `test a server that ends below a dialog does not end the proposals`() {
        val view = proposed("a.txt")
        val last = RecordingCore()
        belowDialog {
            restart("a.txt")
            next.close()
            last.resumable += ResumedProposal("a.txt", 1, ReasonArrival.NOW)
            offEdt { service.follow(last) }
        }
        settled()
        view.click("Accept")
        assertEquals(listOf("accepted ${path("a.txt")} 'two'"), last.calls.drop(1))
        last.close()
    }

    fun `test what the last server closed without an answer is rejected, and its text offered`() {
        lookSoon()
        val (early, late) = listOf("early.txt", "late.txt").map(::proposed)
        late.type("mine")
        core.close()
        assertEquals("done two", answer { service.close(it, path("early.txt")) })
        belowDialog {
            startNext("early.txt", "late.txt")
            assertEquals("done mine", answer { service.close(it, path("late.txt")) })
        }
        await("the end") { "rejected late.txt" in nextCalls && !early.isOpen && !late.isOpen }
        assertEquals("resume late.txt two", nextCalls.first())
        await("the offer") { notices.isNotEmpty() }
        assertEquals("mine", givenBack())
    }

    private fun text(view: View): String {
        UIUtil.dispatchAllInvocationEvents()
        return view.banner.substringBefore(" | ")
    }
}
