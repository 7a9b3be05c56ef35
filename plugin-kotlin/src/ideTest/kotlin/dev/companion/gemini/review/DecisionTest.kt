// Tests the user's decisions, and the notification of the CLI.

package dev.companion.gemini.review

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.ide.CopyPasteManager
import com.intellij.openapi.project.ProjectManager
import com.intellij.openapi.util.Disposer
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.belowDialog
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.tabs.ProposalFile
import java.awt.datatransfer.DataFlavor
import java.io.File
import java.util.concurrent.CopyOnWriteArrayList

class DecisionTest : DiffTestCase() {
    fun `test accepted text has the file's line ending and BOM, whatever was proposed`() {
        file("win.txt", "\uFEFFa\r\nb\r\n")
        file("unix.txt", "a\nb\n")
        propose("win.txt", "c\nd\n").click("Accept")
        propose("unix.txt", "\uFEFFc\r\nd\r\n").click("Accept")
        assertEquals(listOf("accepted win.txt '\uFEFFc\r\nd\r\n'", "accepted unix.txt 'c\nd\n'"), calls)
    }

    fun `test a proposal that is not edited keeps each carriage return amid a line`() {
        file("a.txt", "\uFEFFone\rtwo\r\nthree\r\n")
        propose("a.txt", "one\rtwo\nfour\n").click("Accept")
        assertEquals(listOf("accepted a.txt '\uFEFFone\rtwo\r\nfour\r\n'"), calls)
    }

    fun `test an accepted new file has the proposal's line ending and BOM`() {
        propose("a.txt", "\uFEFFc\r\nd\r\n").click("Accept")
        propose("b.txt", "c\nd\n").click("Accept")
        assertEquals(listOf("accepted a.txt '\uFEFFc\r\nd\r\n'", "accepted b.txt 'c\nd\n'"), calls)
    }

    fun `test the file's form counts when it is accepted, not when it was proposed`() {
        val file = file("a.txt", "a\nb\n")
        val view = propose("a.txt", "c\nd\n")
        file.writeText("\uFEFFx\r\ny\r\n")
        virtualFile(file).refresh(false, false)
        view.click("Accept")
        assertEquals(listOf("accepted a.txt '\uFEFFc\r\nd\r\n'"), calls)
    }

    fun `test closing the project rejects, and fails what is still to be shown`() {
        val closing = ProposalService(project)
        assertEquals(Answer.DONE, answer { closing.open(it, path("a.txt"), "two") })
        val pending = Answer()
        closing.open(pending, path("b.txt"), "two")
        Disposer.dispose(closing)
        assertEquals(listOf("rejected a.txt"), calls)
        assertTrue(pending.text.orEmpty().startsWith("failed: "))
        View(tabs().single()).close()
    }

    fun `test no tab is left for the platform to save when the project closes`() {
        propose("a.txt", "two")
        val listeners = ApplicationManager.getApplication().messageBus.syncPublisher(ProjectManager.TOPIC)
        listeners.projectClosingBeforeSave(project)
        assertEquals(emptyList<ProposalFile>(), tabs())
        assertEquals("decided when it is closed", emptyList<String>(), calls)
    }

    fun `test a request is done before its decision is sent`() {
        val order = CopyOnWriteArrayList<String>()
        val answer = Answer { order += "done, sent ${core.calls.size}, tab ${tabs().size}" }
        service.open(answer, path("a.txt"), "two")
        await("an answer") { answer.text != null }
        view("a.txt").click("Accept")
        assertEquals(listOf("done, sent 0, tab 1"), order)
        assertEquals(1, core.calls.size)
    }

    fun `test nothing is done on the server's thread`() {
        val answer = Answer()
        service.open(answer, path("a.txt"), "two")
        assertNull(answer.text)
        assertEquals(emptyList<ProposalFile>(), tabs())
        await("an answer") { answer.text != null }
    }

    fun `test the CLI closes a proposal, also below a dialog, and gets its text as edited`() {
        file("a.txt", "\uFEFFone\r\n")
        val view = propose("a.txt", "two\n")
        view.type("edited\n")
        belowDialog {
            assertEquals("done \uFEFFedited\r\n", answer { service.close(it, path("a.txt")) })
        }
        await("the end of the tab") { !view.isOpen }
        assertEquals(emptyList<String>(), calls)
    }

    fun `test what comes after the end is not taken for what has ended`() {
        propose("a.txt", "two")
        val (closed, opened) = Answer() to Answer()
        service.close(closed, path("a.txt"))
        service.open(opened, path("a.txt"), "three")
        await("both answers") { closed.text != null && opened.text != null }
        assertEquals(listOf("done two", "done"), listOf(closed.text, opened.text))
        assertEquals("three", view("a.txt").right.document.text)
    }

    fun `test what does not show cannot be closed, accepted or rejected`() {
        val nothing = "failed: There is no open proposal for this file."
        assertEquals(nothing, answer { service.close(it, path("a.txt")) })
        assertEquals(nothing, answer { service.accept(it, path("a.txt")) })
        assertEquals(nothing, answer { service.reject(it, path("a.txt")) })
    }

    fun `test the CLI rejects in the user's place`() {
        val view = propose("a.txt", "two")
        assertEquals(Answer.DONE, answer { service.reject(it, path("a.txt")) })
        assertEquals(listOf("rejected a.txt"), calls)
        assertFalse(view.isOpen)
    }

    fun `test an edit that nobody waits for stays where it can be used`() {
        file("a.txt", "one\r\n")
        val view = propose("a.txt", "two")
        view.type("mine\n")
        core.delivery = Delivery.UNKNOWN
        view.click("Accept")
        assertTrue(view.isOpen)
        assertTrue(view.banner, "no longer waits" in view.banner)
        view.click("Copy")
        assertEquals("mine\n", CopyPasteManager.getInstance().getContents<String>(DataFlavor.stringFlavor))
        view.click("Apply")
        await("the end") { !view.isOpen }
        assertEquals("mine\r\n", File(root, "a.txt").readText())
        assertEquals("sent once", listOf("accepted a.txt 'mine\r\n'"), calls)
    }

    fun `test an edit that waits for the CLI's return stays, too, and its tab can be closed`() {
        val view = propose("a.txt", "two")
        core.delivery = Delivery.QUEUED
        view.click("Accept")
        assertTrue(view.banner, "is not connected" in view.banner)
        view.click("Close")
        assertFalse(view.isOpen)
        assertEquals(listOf("accepted a.txt 'two'"), calls)
    }

    fun `test an edit that waits for the CLI's return closes once the CLI has written it, and only then`() {
        val (written, lost) = propose("a.txt", "two") to propose("b.txt", "two")
        core.delivery = Delivery.QUEUED
        listOf(written, lost).forEach { it.click("Accept") }
        service.written(path("a.txt"))
        service.unwritten(path("b.txt"))
        await("the end") { !written.isOpen }
        assertTrue(lost.banner, "no longer waits" in lost.banner)
    }

    fun `test a new proposal does not replace an edit whose delivery is unknown`() {
        val first = propose("a.txt", "two")
        core.delivery = Delivery.UNKNOWN
        first.click("Accept")
        val second = propose("a.txt", "three")
        assertNotSame(first.file, second.file)
        assertEquals("two", text(first.right))
        assertEquals("three", text(second.right))
        first.close()
        assertEquals(listOf("accepted a.txt 'two'"), calls)
    }

    fun `test a proposal of a server that has just started stays`() {
        val next = RecordingCore()
        core.close()
        assertEquals(Answer.DONE, answer { service.open(next, it, diff(path("a.txt"), "two")) })
        service.follow(null)
        val view = view("a.txt")
        // Waits until the earlier requests have been carried out.
        assertEquals(Answer.DONE, answer { service.open(next, it, diff(path("b.txt"), "two")) })
        view.click("Accept")
        assertEquals(listOf("accepted ${path("a.txt")} 'two'"), next.calls)
        next.close()
        service.follow(null)
    }

    fun `test a proposal whose server has gone meanwhile does not show`() {
        val answer = Answer()
        service.open(answer, path("a.txt"), "two")
        core.close()
        await("an answer") { answer.text != null }
        assertTrue(answer.text.orEmpty().startsWith("failed: "))
        assertEquals(emptyList<ProposalFile>(), tabs())
    }
}
