// Tests proposals whose file has changed since they arrived.

package dev.companion.gemini.review

import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.vfs.ReadonlyStatusHandler
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.core.Delivery
import org.picocontainer.MutablePicoContainer
import java.io.File
import java.io.IOException
import java.util.concurrent.CountDownLatch

class StaleTest : QuestionTestCase() {
    fun `test a file that has changed is asked about before its proposal is accepted`() {
        file("a.txt", "old")
        val view = propose("a.txt", "new")
        change("a.txt", "by hand")
        await("the word about it") { "It has changed meanwhile." in view.banner }
        view.click("Accept")
        assertTrue(questions.single(), "Gemini CLI replaces the changes with the accepted text" in questions.single())
        assertEquals("to keep editing is no decision", emptyList<String>(), calls)
        answering(2)
        view.type("mine")
        view.click("Accept")
        assertEquals(listOf("accepted a.txt 'mine'"), calls)
        service.unwritten(path("a.txt"))
        await("the offer: Qwen Code may not write it") { notified.any { "was not written to" in it.content } }
    }

    fun `test a file that another program has changed is seen to be another before anything is decided`() {
        val file = file("a.txt", "old")
        val view = propose("a.txt", "new")
        file.writeText("by another program")
        await("the word about it") { "It has changed meanwhile." in view.banner }
        assertTrue(file.delete())
        await("the word about its end") { "It has been deleted" in view.banner }
    }

    fun `test a file in whose place there is a folder now is said to be deleted`() {
        val file = file("a.txt", "old")
        val view = propose("a.txt", "new")
        check(file.delete() && file.mkdir())
        await("the word about its end") { "It has been deleted" in view.banner }
    }

    fun `test a file that the user has just deleted or renamed is asked about`() {
        val (deleted, renamed) = listOf("a.txt", "b.txt").map { virtualFile(file(it, "old")) }
        val views = listOf("a.txt", "b.txt").map { propose(it, "new") }
        WriteCommandAction.runWriteCommandAction(project) {
            deleted.delete(this)
            renamed.rename(this, "c.txt")
        }
        views.forEach { it.click("Accept") }
        assertEquals(emptyList<String>(), calls)
        assertEquals(2, questions.size)
    }

    fun `test a file that the user has just created is asked about`() {
        val view = propose("a.txt", "new")
        WriteCommandAction.runWriteCommandAction(project) {
            val created = virtualFile(root).createChildData(this, "a.txt")
            created.setBinaryContent("by hand".toByteArray())
        }
        view.click("Accept")
        assertEquals(emptyList<String>(), calls)
        assertEquals(1, questions.size)
    }

    fun `test what another program writes is not lost without a question because the user has not saved`() {
        val file = file("a.txt", "old")
        change("a.txt", "by hand")
        val view = propose("a.txt", "new")
        file.writeText("by another program")
        await("the word about it") { "It has changed meanwhile." in view.banner }
        view.click("Accept")
        assertTrue(questions.single(), "Gemini CLI replaces the changes with the accepted text" in questions.single())
        assertEquals(emptyList<String>(), calls)
    }

    fun `test what another program writes after a change that was undone is not lost without a question`() {
        val file = file("a.txt", "old")
        val view = propose("a.txt", "new")
        change("a.txt", "by hand")
        change("a.txt", "old")
        file.writeText("by another program")
        await("the word about it") { "It has changed meanwhile." in view.banner }
    }

    fun `test what is put into the file in the place of the CLI is not written by the CLI again`() {
        val file = file("a.txt", "old")
        val view = propose("a.txt", "new")
        core.delivery = Delivery.QUEUED
        view.click("Accept")
        view.click("Apply")
        await("the end") { !view.isOpen }
        assertEquals("new", file.readText())
        assertEquals(listOf("accepted a.txt 'new'", "withdraw a.txt"), calls)
        assertEquals(emptyList<String>(), questions)
    }

    fun `test a client that accepts a read-only file is refused without a dialog, and the user is asked`() {
        val file = file("a.txt", "old")
        check(file.setReadOnly())
        val asked = ArrayList<VirtualFile>()
        val container = project.picoContainer as MutablePicoContainer
        val key = ReadonlyStatusHandler::class.java.name
        val platforms = container.unregisterComponent(key)
        val handler = object : ReadonlyStatusHandler() {
            override fun ensureFilesWritable(vararg files: VirtualFile) = ensureFilesWritable(files.asList())

            override fun ensureFilesWritable(files: Collection<VirtualFile>): OperationStatus {
                asked += files
                return (platforms.getComponentInstance(container) as ReadonlyStatusHandler).ensureFilesWritable(files)
            }
        }
        container.registerComponentInstance(key, handler)
        try {
            val view = propose("a.txt", "new")
            val refusal = "The IDE could not write ${file.path}: it is read-only"
            assertEquals("failed: $refusal", answer { service.accept(it, file.path) })
            assertEquals(emptyList<VirtualFile>(), asked)
            core.delivery = Delivery.UNKNOWN
            view.click("Accept")
            view.click("Apply")
            await("the question") { questions.isNotEmpty() }
            assertEquals(listOf(virtualFile(file)), asked)
            assertTrue(questions.single(), refusal in questions.single())
            assertEquals("old", file.readText())
        } finally {
            container.unregisterComponent(key)
            container.registerComponent(platforms)
            file.setWritable(true)
        }
    }

    fun `test what the CLI may have received is put into the file after a question`() {
        val file = file("a.txt", "old")
        val view = propose("a.txt", "new")
        core.delivery = Delivery.QUEUED
        core.isUnsent = false
        view.click("Accept")
        applyAndBeAsked(view, "a.txt can be edited twice")
        assertEquals("old", file.readText())
        answering(1)
        view.click("Apply")
        await("the end") { !view.isOpen }
        assertEquals("new", file.readText())
    }

    fun `test an unchanged edit that its CLI makes again is not said to replace what has changed`() {
        file("a.txt", "old")
        open("a.txt", "new", replaysEdits = true)
        val view = view("a.txt")
        change("a.txt", "by hand")
        await("the word about it") { "It has changed meanwhile." in view.banner }
        view.click("Accept")
        assertTrue(questions.single(), "Gemini CLI keeps the changes if its tool is Edit" in questions.single())
        change("a.txt", "new")
        view.click("Accept")
        assertTrue(questions.last(), "a.txt already has the proposed text." in questions.last())
        view.type("mine")
        view.click("Accept")
        assertTrue(questions.last(), "Gemini CLI replaces the changes with the accepted text" in questions.last())
    }

    fun `test a CLI that replays edits receives its own text if nothing was changed`() {
        val (crlf, bom) = listOf("crlf.txt" to "one\r\ntwo\r\n", "bom.txt" to "\uFEFFone\n").map { (name, text) ->
            file(name, text)
        }
        for ((file, text) in listOf(crlf to "one\n2\n", bom to "\uFEFF1\n")) {
            open(file.name, text, replaysEdits = true)
            view(file.name).click("Accept")
        }
        open(bom.name, "1\n", replaysEdits = true)
        view(bom.name).click("Accept")
        propose(crlf.name, "one\n2\n").click("Accept")
        val accepted =
            listOf("crlf.txt 'one\n2\n'", "bom.txt '\uFEFF1\n'", "bom.txt '\uFEFF1\n'", "crlf.txt 'one\r\n2\r\n'")
        assertEquals(accepted.map { "accepted $it" }, calls)
    }

    fun `test a CLI that replays edits writes the file itself when another client accepts`() {
        val file = file("a.txt", "old")
        open("a.txt", "new", replaysEdits = true)
        assertEquals(Answer.DONE, answer { service.accept(it, path("a.txt")) })
        assertEquals(listOf("accepted a.txt 'new'"), calls)
        assertEquals("old", file.readText())
    }

    fun `test a file that has changed is not accepted for another client`() {
        for (replaysEdits in listOf(false, true)) {
            fun refuses(name: String, before: String?, change: (String) -> Unit) {
                val place = "$replaysEdits/$name"
                before?.let { file(place, it) }
                if (name == "unsaved.txt") change(place)
                open(place, "new", replaysEdits)
                if (name != "unsaved.txt") change(place)
                val file = File(path(place))
                val now = file.takeIf { it.exists() }?.readText()
                val answer = answer { service.accept(it, path(place)) }
                assertTrue("$place: $answer", answer.startsWith("failed: Only the user can accept this proposal"))
                assertEquals(now, file.takeIf { it.exists() }?.readText())
                assertTrue(view(place).isOpen)
            }
            refuses("written.txt", "old") { File(path(it)).writeText("own") }
            refuses("deleted.txt", "old") { assertTrue(File(path(it)).delete()) }
            refuses("created.txt", null) { File(path(it)).writeText("by hand") }
            refuses("typed.txt", "old") { change(it, "by hand") }
            refuses("unsaved.txt", "old") { change(it, "by hand") }
            refuses("both.txt", "old") {
                change(it, "by hand")
                File(path(it)).writeText("by another program")
            }
        }
        assertEquals(emptyList<String>(), calls)
    }

    private fun open(name: String, text: String, replaysEdits: Boolean) {
        val proposal = diff(path(name), text).copy(replaysEdits = replaysEdits)
        assertEquals(Answer.DONE, answer { service.open(core, it, proposal) })
    }

    fun `test what the user has written since is not replaced without a question`() {
        file("a.txt", "old")
        val view = propose("a.txt", "new")
        core.delivery = Delivery.UNKNOWN
        view.click("Accept")
        change("a.txt", "by hand")
        applyAndBeAsked(view, "The proposal replaces the whole file.")
        answering(1)
        view.click("Apply")
        await("the end") { !view.isOpen }
        assertEquals("new", File(path("a.txt")).readText())
    }

    fun `test what another program has written since is not replaced without a question`() {
        file("a.txt", "old")
        val gone = file("c.txt", "old")
        val (changed, created, deleted) = listOf("a.txt", "b.txt", "c.txt").map { propose(it, "new") }
        core.delivery = Delivery.UNKNOWN
        listOf(changed, created, deleted).forEach { it.click("Accept") }
        val files = listOf("a.txt", "b.txt").map { file(it, "by another program") }
        assertTrue(gone.delete())
        applyAndBeAsked(changed, "a.txt has changes that the proposal lacks.\nThe proposal replaces the whole file.")
        applyAndBeAsked(created, "b.txt has been created meanwhile.\nThe proposal replaces the whole file.")
        applyAndBeAsked(deleted, "c.txt has been deleted meanwhile.\nThe proposal creates it again.")
        assertEquals(List(2) { "by another program" }, files.map(File::readText))
        assertFalse(gone.exists())
    }

    fun `test a file that appears while the user is asked is not replaced`() {
        val view = propose("a.txt", "new")
        core.delivery = Delivery.QUEUED
        core.isUnsent = false
        view.click("Accept")
        answering(1) { if (questions.size == 1) file("a.txt", "by another program") }
        view.click("Apply")
        await("the refusal") { questions.size == 2 }
        assertTrue(questions.last(), "a.txt: another program has just created it" in questions.last())
        assertEquals("by another program", File(path("a.txt")).readText())
    }

    fun `test a second click while the text is put into the file asks nothing`() {
        val (isWriting, isWritten) = List(2) { CountDownLatch(1) }
        service = TestProposalService(project, {
            isWriting.countDown()
            isWritten.await()
        })
        Disposer.register(testRootDisposable, service)
        val view = propose("a.txt", "new")
        core.delivery = Delivery.UNKNOWN
        view.click("Accept")
        val proposal = checkNotNull(view.file.proposal)
        repeat(2) { service.apply(proposal) }
        await("the write") { isWriting.count == 0L }
        UIUtil.dispatchAllInvocationEvents()
        assertEquals(emptyList<String>(), questions)
        assertTrue(view.banner, view.banner.startsWith("The file is being written."))
        isWritten.countDown()
        await("the end") { !view.isOpen }
        assertEquals("new", File(path("a.txt")).readText())
    }

    fun `test a text that could not be put into the file can be again`() {
        var refuses = true
        service = TestProposalService(project, { if (refuses) throw IOException("no space left") })
        Disposer.register(testRootDisposable, service)
        val file = file("a.txt", "old")
        val view = propose("a.txt", "new")
        core.delivery = Delivery.UNKNOWN
        view.click("Accept")
        applyAndBeAsked(view, "no space left")
        refuses = false
        file.writeText("old")
        answering(1)
        view.click("Apply")
        await("the end") { !view.isOpen }
        assertEquals("new", file.readText())
    }

    private fun applyAndBeAsked(view: View, question: String) {
        val before = questions.size
        view.click("Apply")
        await("the question") { questions.size > before }
        assertTrue(questions.last(), question in questions.last())
    }

    fun `test unsaved changes are asked about once they are saved, since the proposal removes them`() {
        file("a.txt", "old")
        change("a.txt", "by hand")
        val view = propose("a.txt", "new")
        assertTrue(view.banner, "unsaved changes" in view.banner)
        FileDocumentManager.getInstance().saveAllDocuments()
        answering(ALL)
        service.acceptAll()
        assertTrue(questions.single(), "a.txt: It has changed meanwhile." in questions.single())
        answering(CANCEL)
        view.click("Accept")
        assertTrue(questions.last(), "Gemini CLI replaces the changes with the accepted text" in questions.last())
        assertEquals(emptyList<String>(), calls)
    }

    fun `test what was written is offered back once, when a proposal whose delivery is unknown ends`() {
        file("a.txt", "old")
        val view = propose("a.txt", "new")
        view.type("mine")
        change("a.txt", "by hand")
        await("the word about it") { "It has changed meanwhile." in view.banner }
        core.delivery = Delivery.UNKNOWN
        answering(2)
        view.click("Accept")
        val offers = { notified.count { "Your edits are still available" in it.content } }
        assertEquals("it has not ended", 0, offers())
        view.click("Close")
        assertEquals(1, offers())
    }

    fun `test a change that is undone is none`() {
        file("a.txt", "old")
        val view = propose("a.txt", "new")
        change("a.txt", "by hand")
        await("the word about it") { "It has changed meanwhile." in view.banner }
        change("a.txt", "old")
        await("its end") { "It has changed meanwhile." !in view.banner }
        view.click("Accept")
        assertEquals(emptyList<String>(), questions)
        assertEquals(listOf("accepted a.txt 'new'"), calls)
    }
}
