// Tests proposals that outlive their tabs, and the user's text of ended ones.

package dev.companion.gemini.review

import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.FileEditorManagerListener
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.awaitGone
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.offEdt
import dev.companion.gemini.platform.TabTitleProvider
import dev.companion.gemini.tabs.ProposalFile
import java.io.File
import javax.swing.JEditorPane

class WaitingTest : QuestionTestCase() {
    private fun edited(name: String) = propose(name, "two").also { it.type("mine") }

    fun `test one notification is for all that wait without a tab`() {
        val names = listOf("a.txt", "b.txt", "c.txt")
        names.forEach { propose(it, "two") }
        myManager.closeAllFiles()
        UIUtil.dispatchAllInvocationEvents()
        assertEquals(1, notices.size)
        val offer = "3 CLI proposals have come, the first for ${root.name}/a.txt."
        assertEquals("$offer Click Review to open those that wait.", notices.single())
        assertEquals("Companion for Gemini CLI", notified.last().title)
        follow(notified.last())
        assertEquals(names, tabs().map { it.name }.sorted())
        assertEquals("the named one is in front", "a.txt", myManager.selectedFiles.single().name)
    }

    fun `test the notification stays until none waits without a tab`() {
        listOf("a.txt", "b.txt", "c.txt").forEach { propose(it, "two") }
        myManager.closeAllFiles()
        UIUtil.dispatchAllInvocationEvents()
        val count = notified.size
        service.review(service.waiting().first())
        assertEquals(1, notices.size)
        assertEquals("no second one shows", count, notified.size)
        follow(notified.last())
        assertEquals(3, tabs().size)
        assertEquals("b.txt", myManager.selectedFiles.single().name)
        assertEquals(emptyList<String>(), notices)
    }

    fun `test the notification ends when the platform opens the tab again`() {
        val view = propose("a.txt", "two")
        view.lose()
        assertEquals(1, notices.size)
        myManager.openFile(view.file, true)
        UIUtil.dispatchAllInvocationEvents()
        assertEquals(emptyList<String>(), notices)
    }

    fun `test a decision about one leaves a notification that is true for the others`() {
        listOf("a.txt", "b.txt").forEach { propose(it, "two").lose() }
        val count = notified.size
        service.accept(service.waiting().first())
        UIUtil.dispatchAllInvocationEvents()
        assertEquals(listOf("b.txt"), service.waiting().map { File(it.path).name })
        assertFalse(notices.single(), "proposes" in notices.single() || "more" in notices.single())
        assertEquals("no second one shows", count, notified.size)
        follow(notified.last())
        assertEquals(listOf("b.txt"), tabs().map { it.name })
    }

    fun `test an acceptance whose delivery is unknown comes back as well`() {
        val view = edited("a.txt")
        core.delivery = Delivery.UNKNOWN
        view.click("Accept")
        view.lose()
        val text = "/a.txt: The CLI no longer waits for this proposal and may not write the file. Click Review"
        assertTrue(notices.single(), text in notices.single())
        follow(notified.last())
        assertEquals("mine", text(view.right))
        view.lose()
        propose("b.txt", "two").lose()
        follow(notified.last())
        assertEquals(listOf("a.txt", "b.txt"), tabs().map { it.name }.sorted())
    }

    fun `test an acceptance without a tab says so if the CLI is not connected`() {
        propose("a.txt", "two").lose()
        assertTrue(notices.single(), "proposes" in notices.single())
        core.delivery = Delivery.QUEUED
        service.accept(service.waiting().single())
        assertTrue(notices.single(), "/a.txt: Accepted, but the CLI is not connected." in notices.single())
        follow(notified.last())
        tabs().single().proposal?.let(service::closeByUser)
    }

    fun `test an acceptance in vain does not count among those that have come`() {
        val names = listOf("a.txt", "b.txt", "c.txt")
        names.forEach { propose(it, "two").lose() }
        core.delivery = Delivery.QUEUED
        val undelivered = service.waiting().take(2)
        val shown = undelivered.map {
            service.accept(it)
            UIUtil.dispatchAllInvocationEvents()
            notices.single().replace("${root.name}/", "").substringBefore(" Click Review")
        }
        val one = "No CLI has confirmed the accepted proposal for a.txt."
        assertEquals("2 CLI proposals have come, the first for b.txt. $one", shown[0])
        val two = "No CLI has confirmed 2 accepted proposals, including the one for a.txt."
        assertEquals("A CLI proposal has come for c.txt. $two", shown[1])
        follow(notified.last())
        assertEquals(names, tabs().map { it.name }.sorted())
        undelivered.forEach(service::closeByUser)
    }

    fun `test what came and went is no edit`() {
        val view = edited("a.txt")
        view.type("two")
        view.close()
        assertEquals(listOf("rejected a.txt"), calls)
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
        file("untouched.txt", "\uFEFFone\r\n")
        propose("untouched.txt", "two\n").click("Accept")
        service.written(path("written.txt"))
        service.unwritten(path("untouched.txt"))
        service.unwritten(path("denied.txt"))
        await("the offer") { notices.isNotEmpty() }
        val lost = Regex("Your text was not written to .*/denied\\.txt\\.")
        assertTrue(notices.single(), lost in notices.single())
        assertEquals("mine", givenBack())
    }

    fun `test an offer ends if the CLI writes the text late`() {
        edited("a.txt").click("Accept")
        service.unwritten(path("a.txt"))
        await("the offer") { notices.isNotEmpty() }
        service.written(path("a.txt"))
        await("its end") { notices.isEmpty() }
    }

    fun `test a late message is about the last text of the file`() {
        val first = edited("a.txt")
        core.delivery = Delivery.QUEUED
        first.click("Accept")
        service.unwritten(path("a.txt"))
        core.delivery = Delivery.DELIVERED
        edited("a.txt").click("Accept")
        service.written(path("a.txt"))
        service.written(path("a.txt"))
        await("the messages") { background() }
        UIUtil.dispatchAllInvocationEvents()
        assertTrue("its text is not in the file", first.isOpen)
        first.click("Close")
    }

    fun `test a late message takes no edit that came after the acceptance`() {
        val view = edited("a.txt")
        core.delivery = Delivery.QUEUED
        view.click("Accept")
        view.type("later")
        service.written(path("a.txt"))
        await("the end") { !view.isOpen }
        assertEquals("later", givenBack())
    }

    fun `test a message of the next server is about its own text`() {
        lookSoon(longestPauseMillis = 300)
        edited("a.txt").click("Accept")
        core.close()
        core = RecordingCore()
        offEdt { service.follow(core) }
        edited("a.txt").click("Accept")
        service.unwritten(path("a.txt"))
        await("the offers of both texts") { notices.size == 2 }
    }

    fun `test after the end of a server a text is offered unless the CLI still writes it`() {
        lookSoon()
        for (name in listOf("written.txt", "longer.txt", "lost.txt")) edited(name).click("Accept")
        core.close()
        offEdt { service.follow(null) }
        file("written.txt", "mine")
        // Gemini CLI's tool for edits keeps the end of the last line as it is in the file.
        file("longer.txt", "mine\r\n")
        await("the offer") { notices.isNotEmpty() }
        assertTrue(notices.single(), "/lost.txt" in notices.single())
        assertEquals("mine", givenBack())
    }

    fun `test a name is no HTML and hides nothing`() {
        val view = propose("<b>\u202Etxt.exe", "two")
        val titles = UIUtil.findComponentsOfType(view.component, JEditorPane::class.java)
        val shown = titles.map { it.document.getText(0, it.document.length).trim() }
        assertTrue("$shown", shown.any { it.endsWith("/<b>\\u202Etxt.exe") })
        view.lose()
        assertTrue(notices.single(), "/&lt;b&gt;\\u202Etxt.exe." in notices.single())
        assertEquals("<b>\\u202Etxt.exe", view.file.name)
    }

    fun `test equal names are distinguished`() {
        propose("a.txt", "two")
        propose("deep/a.txt", "two")
        val titles = { tabs().mapNotNull { TabTitleProvider().getEditorTabTitle(project, it) }.sorted() }
        assertEquals(listOf("a.txt", "deep/a.txt").map { "${root.name}/$it (new file)" }, titles())
        view("deep/a.txt").lose()
        assertEquals("the other waits without a tab", listOf("${root.name}/a.txt (new file)"), titles())
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

    fun testAProposalThatReplacedAnotherIsForgottenAtItsEnd() {
        val views = listOf("a.txt", "b.txt").map { propose(it, "two") }
        views[0].close()
        awaitGone("the proposal") {
            checkNotNull(views[1].file.proposal).also { views[1].click("Reject") }
        }
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
