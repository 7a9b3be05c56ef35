// Tests proposals that outlive their tabs, and the user's text of ended ones.

package dev.companion.gemini.review

import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.FileEditorManagerListener
import com.intellij.openapi.project.ex.ProjectManagerEx
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.vfs.encoding.EncodingProjectManager
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.dispatchUntil
import dev.companion.gemini.tabs.ProposalFile
import dev.companion.gemini.tabs.ProposalTitleProvider
import java.lang.ref.WeakReference

class WaitingTest : QuestionTestCase() {
    /** Waits until no reference to the result of [make] is left. */
    private fun awaitGone(what: String, make: () -> Any) {
        val reference = WeakReference(make())
        await("the end of $what") {
            System.gc()
            reference.get() == null
        }
    }

    private fun edited(name: String) = propose(name, "two").also { it.type("mine") }

    fun `test a proposal whose tab is lost waits, and comes back as the user left it`() {
        val view = edited("a.txt")
        view.lose()
        assertFalse(view.isOpen)
        assertEquals(emptyList<String>(), told)
        val offer = "The CLI proposes the new file ${root.name}/a.txt."
        assertEquals(listOf("$offer Click Review to open its tab."), notices)
        follow(notified.last())
        assertEquals("mine", text(view("a.txt").right))
        assertEquals("nothing waits without a tab", emptyList<String>(), notices)
        view("a.txt").click("Accept")
        assertEquals(listOf("accepted a.txt 'mine'"), told)
    }

    fun `test one notification is for all that wait without a tab`() {
        val names = listOf("a.txt", "b.txt", "c.txt")
        names.forEach { propose(it, "two") }
        myManager.closeAllFiles()
        UIUtil.dispatchAllInvocationEvents()
        assertEquals(1, notices.size)
        assertTrue(notices.single(), "2 more proposals wait." in notices.single())
        follow(notified.last())
        assertEquals(names, tabs().map { it.name }.sorted())
    }

    fun `test what was accepted and nobody heard of comes back as well`() {
        val view = edited("a.txt")
        core.delivery = Delivery.UNKNOWN
        view.click("Accept")
        view.lose()
        follow(notified.last())
        assertEquals("mine", text(view.right))
        view.lose()
        propose("b.txt", "two").lose()
        follow(notified.last())
        assertEquals(listOf("a.txt", "b.txt"), tabs().map { it.name }.sorted())
    }

    fun `test a tab is neither a preview nor closed to make room`() {
        val view = propose("a.txt", "two")
        assertTrue(checkNotNull(myManager.currentWindow).isFilePinned(view.file))
    }

    fun `test closing a tab that was edited asks, and keeps it`() {
        answering(CANCEL)
        edited("a.txt").close()
        assertEquals(1, questions.size)
        assertEquals("mine", text(view("a.txt").right))
        assertEquals(emptyList<String>(), told)
    }

    fun `test closing a tab that was edited asks, and rejects it`() {
        answering(ALL)
        edited("a.txt").close()
        assertEquals(1, questions.size)
        assertEquals(listOf("rejected a.txt"), told)
        assertEquals("mine", givenBack())
    }

    fun `test who leaves an edited proposal is asked once, though the platform asks twice`() {
        fun canClose() = ProjectManagerEx.getInstanceEx().canClose(project)
        answering(ALL)
        edited("a.txt")
        assertTrue(canClose() && canClose())
        assertEquals(1, questions.size)
        UIUtil.dispatchAllInvocationEvents()
        answering(CANCEL)
        assertFalse("the project was not closed after all, and the next time is another one", canClose())
        assertEquals(2, questions.size)
    }

    fun `test what came and went is no edit`() {
        val view = edited("a.txt")
        view.type("two")
        view.close()
        assertEquals(listOf("rejected a.txt"), told)
        assertEquals(emptyList<String>(), notices)
    }

    fun `test whatever ends a proposal that was edited, the text can be had back`() {
        edited("action.txt").click("Reject")
        assertEquals("mine", givenBack())
        edited("client.txt")
        answer { service.close(it, path("client.txt"), abandoned = true) }
        assertEquals("mine", givenBack())
        edited("terminal.txt")
        answer { service.close(it, path("terminal.txt")) }
        val before = notified.size
        service.unwritten(path("terminal.txt"))
        await("the offer") { notified.size > before }
        assertEquals("mine", givenBack())
        edited("cli.txt")
        answer { service.reject(it, path("cli.txt")) }
        assertEquals("mine", givenBack())
        edited("again.txt")
        propose("again.txt", "three")
        assertEquals("mine", givenBack())
        edited("server.txt")
        core.close()
        service.follow(null)
        await("the end") { service.waiting().isEmpty() }
        assertEquals("mine", givenBack())
        assertEquals("nothing was asked", emptyList<String>(), questions)
    }

    fun `test what was accepted and is not written is offered back, and nothing else`() {
        for (name in listOf("written.txt", "denied.txt")) edited(name).click("Accept")
        propose("untouched.txt", "two").click("Accept")
        service.written(path("written.txt"))
        service.unwritten(path("untouched.txt"))
        service.unwritten(path("denied.txt"))
        await("the offer") { notices.isNotEmpty() }
        val lost = Regex("Accepted changes were not written to .*/denied\\.txt\\.")
        assertTrue(notices.single(), lost in notices.single())
        assertEquals("mine", givenBack())
    }

    fun `test what a server is still to look for is offered back when it has gone`() {
        edited("a.txt").click("Accept")
        assertEquals(emptyList<String>(), notices)
        core.close()
        service.follow(null)
        await("the offer") { notices.isNotEmpty() }
        assertEquals("mine", givenBack())
    }

    fun `test a name is no HTML and hides nothing`() {
        val view = propose("<b>\u202Etxt.exe", "two")
        view.lose()
        assertTrue(notices.single(), "/&lt;b&gt;\\u202Etxt.exe." in notices.single())
        assertEquals("<b>\\u202Etxt.exe", view.file.name)
    }

    fun `test equal names are told apart`() {
        propose("a.txt", "two")
        propose("deep/a.txt", "two")
        val titles = { tabs().mapNotNull { ProposalTitleProvider().getEditorTabTitle(project, it) }.sorted() }
        assertEquals(listOf("a.txt", "deep/a.txt").map { "${root.name}/$it (new file)" }, titles())
        answer { service.close(it, path("deep/a.txt")) }
        await("the short title") { titles() == listOf("a.txt (new file)") }
    }

    fun `test what arrives while the platform opens a tab waits for its turn`() {
        val answers = List(2) { Answer() }
        val seen = ArrayList<String>()
        val host = object : FileEditorManagerListener.Before {
            override fun beforeFileOpened(source: FileEditorManager, file: VirtualFile) {
                if (file !is ProposalFile || seen.isNotEmpty()) return
                seen += "opening ${file.name}"
                service.open(answers[1], path("b.txt"), "two")
                await("the requests to arrive") { background() }
                UIUtil.dispatchAllInvocationEvents()
                seen += "still opening, ${answers.count { it.text != null }} done"
            }
        }
        val topic = FileEditorManagerListener.Before.FILE_EDITOR_MANAGER
        project.messageBus.connect(testRootDisposable).subscribe(topic, host)
        service.open(answers[0], path("a.txt"), "two")
        await("all answers") { answers.all { it.text != null } }
        assertEquals(listOf("opening a.txt", "still opening, 0 done"), seen)
        assertEquals(listOf(Answer.DONE, Answer.DONE), answers.map { it.text })
        assertEquals(listOf("a.txt", "b.txt"), tabs().map { it.name }.sorted())
    }

    /** Returns whether earlier background tasks are done. It uses a request that fails after all stages. */
    private fun background(): Boolean {
        val last = Answer()
        service.open(last, "no path", "")
        await("the background") { last.text != null }
        return true
    }

    /** The platform remembers files that were open. */
    fun testWhatWasProposedIsForgottenAtItsEnd() {
        val file = propose("ended.txt", "two").file
        awaitGone("the proposal") {
            checkNotNull(file.proposal).also {
                assertEquals(Answer.DONE, answer { request -> service.reject(request, path("ended.txt")) })
            }
        }
        assertFalse(file.isValid)
    }

    fun testARequestIsForgottenWhenItIsAnswered() {
        val requests = PendingRequests()
        awaitGone("the request") { Answer().also { requests.add(it).complete() } }
    }
}
