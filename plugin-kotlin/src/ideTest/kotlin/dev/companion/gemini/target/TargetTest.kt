// Tests the file of a proposal: files that can't be shown, later changes, and writing.

package dev.companion.gemini.target

import com.intellij.diff.DiffContentFactory
import com.intellij.diff.DiffContentFactoryImpl
import com.intellij.diff.contents.DocumentContent
import com.intellij.ide.highlighter.XmlFileType
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.WriteAction
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.command.undo.UndoManager
import com.intellij.openapi.editor.ex.EditorSettingsExternalizable
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.fileTypes.FileType
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.util.io.FileUtil
import com.intellij.openapi.vfs.LocalFileSystem
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.vfs.encoding.EncodingProjectManager
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.core.Responder
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.disk.OpenedPath
import dev.companion.gemini.disk.PostponedWrites
import dev.companion.gemini.loggedErrors
import dev.companion.gemini.offEdt
import dev.companion.gemini.review.Answer
import dev.companion.gemini.review.DiffTestCase
import dev.companion.gemini.review.PendingRequests
import dev.companion.gemini.review.TestProposalService
import dev.companion.gemini.tabs.ProposalFile
import org.picocontainer.MutablePicoContainer
import java.awt.EventQueue
import java.io.File
import java.io.IOException
import java.nio.charset.Charset
import java.nio.charset.CharsetDecoder
import java.nio.charset.CharsetEncoder
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.Paths
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicBoolean

class TargetTest : DiffTestCase() {
    private fun refusal(name: String, text: String = "two"): String {
        val answer = answer { service.open(it, path(name), text) }
        assertEquals(emptyList<ProposalFile>(), tabs())
        return answer.removeSuffix(path(name))
    }

    private fun refresh() = virtualFile(root).refresh(false, true)

    fun `test the missing file of a link is new until it is created`() {
        Files.createSymbolicLink(Paths.get(path("link.txt")), Paths.get(path("missing.txt")))
        refresh()
        val view = propose("link.txt", "two\n")
        assertFalse(view.banner, "meanwhile" in view.banner)
        file("missing.txt", "one\n")
        await("the file") { "It has been created meanwhile." in view.banner }
        assertEquals("one\n", text(view.left))
    }

    fun `test the missing file of a link is created where the link leads`() {
        val link = Files.createSymbolicLink(Paths.get(path("link.txt")), Paths.get("folder/missing.txt"))
        propose("link.txt", "two\n")
        assertEquals(Answer.DONE, answer { service.accept(it, path("link.txt")) })
        assertEquals("two\n", File(root, "folder/missing.txt").readText())
        assertTrue(Files.isSymbolicLink(link))
    }

    fun `test a directory is refused`() {
        File(root, "folder").mkdir()
        assertEquals("failed: The IDE cannot show a directory: ", refusal("folder"))
    }

    fun `test what never comes to an end is refused before it is read`() {
        assertEquals(0, ProcessBuilder("mkfifo", path("fifo.txt")).start().waitFor())
        Files.createSymbolicLink(Paths.get(path("zero.txt")), Paths.get("/dev/zero"))
        for (name in listOf("fifo.txt", "zero.txt")) {
            assertEquals("failed: The IDE can only show regular files: ", refusal(name))
        }
    }

    fun `test a binary file is refused`() {
        File(root, "a.png").writeBytes(byteArrayOf(1, 0, 2))
        File(root, "data").writeBytes(ByteArray(100))
        val message = "failed: The IDE cannot show changes of a binary file: "
        assertEquals(message, refusal("a.png"))
        assertEquals(message, refusal("data"))
        assertEquals(message, refusal("new.png"))
    }

    fun `test an empty file of an unknown type is text`() {
        val file = file("NOTES", "")
        val view = propose("NOTES", "two\n")
        assertTrue(view.banner, "proposes to change" in view.banner)
        assertEquals("", text(view.left))
        view.click("Accept")
        assertEquals(listOf("accepted NOTES 'two\n'"), calls)
        propose("NOTES", "three\n")
        assertEquals(Answer.DONE, answer { service.accept(it, path("NOTES")) })
        assertEquals("three\n", file.readText())
    }

    fun `test an empty file of an unknown type that gets a text meanwhile shows it, with a word`() {
        val file = file("NOTES", "")
        val view = propose("NOTES", "two\n")
        view.type("mine")
        file.writeText("changed\n")
        await("a word") { "changed meanwhile" in view.banner }
        await("its text") { text(view.left) == "changed\n" }
        assertEquals("mine", text(view.right))
        val answer = answer { service.accept(it, path("NOTES")) }
        assertTrue(answer, answer.startsWith("failed: "))
        assertEquals("changed\n", file.readText())
    }

    fun `test a file too large for the viewer is refused`() {
        File(root, "a.txt").writeBytes(ByteArray(21 shl 20) { 'x'.code.toByte() })
        val message = "failed: The file is too large for the diff viewer of the IDE: "
        assertEquals(message, refusal("a.txt"))
        assertEquals(message, refusal("new.txt", "x".repeat(21 shl 20)))
    }

    fun `test what is no path is refused`() {
        for (path in listOf("", "a.txt", "\u0000", "/")) {
            assertTrue(answer { service.open(it, path, "two") }.startsWith("failed: Not an absolute file path"))
        }
    }

    fun `test a directory that is deleted meanwhile is noticed, too`() {
        file("folder/a.txt", "one")
        val view = propose("folder/a.txt", "two")
        FileUtil.delete(File(root, "folder"))
        refresh()
        await("a word") { "deleted meanwhile" in view.banner }
    }

    fun `test a file that is created meanwhile shows as it is now, with a word`() {
        val view = propose("folder/a.txt", "two")
        view.type("mine")
        file("folder/a.txt", "created")
        refresh()
        await("a word") { "created meanwhile" in view.banner }
        await("its text") { text(view.left) == "created" }
        assertEquals("mine", text(view.right))
    }

    fun `test the CLI accepts in the user's place, the file is written and it can be undone`() {
        val file = file("a.txt", "\uFEFFone\r\n")
        val view = propose("a.txt", "two\n")
        view.type("mine\n")
        assertEquals(Answer.DONE, answer { service.accept(it, path("a.txt")) })
        assertEquals("\uFEFFmine\r\n", file.readText())
        assertEquals(listOf("accepted a.txt '\uFEFFmine\r\n'"), calls)
        assertFalse(view.isOpen)

        val opened = myManager.openFile(virtualFile(file), true).single()
        UndoManager.getInstance(project).undo(opened)
        assertEquals("one\n", FileDocumentManager.getInstance().getDocument(virtualFile(file))?.text)
    }

    fun `test the CLI accepts a new file, which is written with its directories`() {
        propose("some/folder/a.txt", "\uFEFFä\r\n")
        assertEquals(Answer.DONE, answer { service.accept(it, path("some/folder/a.txt")) })
        assertEquals("\uFEFFä\r\n", File(root, "some/folder/a.txt").readText())
        assertNotNull(LocalFileSystem.getInstance().findFileByIoFile(File(root, "some/folder/a.txt")))
    }

    fun `test a file that cannot be written is an error, and the proposal stays`() {
        file("a.txt", "one")
        val view = propose("a.txt", "two")
        FileUtil.delete(File(root, "a.txt"))
        file("a.txt/b", "now a directory")
        assertTrue(answer { service.accept(it, path("a.txt")) }.startsWith("failed: "))
        assertTrue(view.isOpen)
        assertEquals(emptyList<String>(), calls)
    }

    fun `test a client that accepts a text that another plugin has made read-only gets the reason`() {
        val document = checkNotNull(FileDocumentManager.getInstance().getDocument(virtualFile(file("a.txt", "one"))))
        document.setReadOnly(true)
        val view = propose("a.txt", "two")
        val refusal = "failed: The IDE could not write ${path("a.txt")}: it is read-only"
        assertEquals(refusal, answer { service.accept(it, path("a.txt")) })
        document.setReadOnly(false)
        assertEquals(Answer.DONE, answer { service.accept(it, path("a.txt")) })
        assertFalse(view.isOpen)
    }

    /** Creates a separate service whose platform writes later. [flush] waits for these writes. */
    private fun postponing(flush: (VirtualFile) -> Unit) {
        service = TestProposalService(project, flush).also { Disposer.register(testRootDisposable, it) }
    }

    fun `test what the CLI accepts is answered once the disk has it, and nobody decides meanwhile`() {
        val isWritten = CountDownLatch(1)
        postponing { isWritten.await() }
        file("a.txt", "one")
        val view = propose("a.txt", "two")
        val answer = Answer()
        service.accept(answer, path("a.txt"))
        await("the writing") { view.banner == "The file is being written. | Copy text" }
        assertNull(answer.text)
        assertEquals(emptyList<String>(), calls)
        service.reject(checkNotNull(view.file.proposal))
        assertTrue(view.isOpen)
        isWritten.countDown()
        await("an answer") { answer.text != null }
        assertEquals(Answer.DONE, answer.text)
        assertEquals(listOf("accepted a.txt 'two'"), calls)
    }

    fun `test what the disk refuses later is an error, and the proposal stays`() {
        postponing { throw IOException("no space left") }
        file("a.txt", "one")
        val view = propose("a.txt", "two")
        val failure = answer { service.accept(it, path("a.txt")) }
        assertEquals("failed: The IDE could not write ${path("a.txt")}: no space left", failure)
        assertTrue(view.banner, "proposes to change" in view.banner)
        assertEquals(emptyList<String>(), calls)
        view.click("Reject")
        assertEquals(listOf("rejected a.txt"), calls)
    }

    object LaterDisk {
        var refusal: String? = null
        val flushed = ArrayList<VirtualFile>()

        @JvmStatic
        val instance = this

        fun flushPendingUpdates(file: VirtualFile) {
            refusal?.let { throw IOException(it) }
            flushed += file
        }
    }

    fun `test the platform is asked to write what it has postponed, if it can`() {
        val file = virtualFile(file("a.txt", "one"))
        offEdt { PostponedWrites.flush(file) }
        offEdt { PostponedWrites.flush(file, LaterDisk::class.java) }
        assertEquals(listOf(file), LaterDisk.flushed)
        LaterDisk.refusal = "no space left"
        val failure = offEdt { runCatching { PostponedWrites.flush(file, LaterDisk::class.java) }.exceptionOrNull() }
        assertEquals("java.io.IOException: no space left", failure.toString())
    }

    fun `test what is accepted in the user's place is on the disk as it was accepted`() {
        file("a.txt", "one\n")
        propose("a.txt", "two  \n\tthree")
        val settings = EditorSettingsExternalizable.getInstance()
        val (strips, ends) = Pair(settings.stripTrailingSpaces, settings.isEnsureNewLineAtEOF)
        settings.stripTrailingSpaces = EditorSettingsExternalizable.STRIP_TRAILING_SPACES_WHOLE
        settings.isEnsureNewLineAtEOF = true
        assertEquals(Answer.DONE, answer { service.accept(it, path("a.txt")) })
        settings.stripTrailingSpaces = strips
        settings.isEnsureNewLineAtEOF = ends
        assertEquals("two  \n\tthree", File(root, "a.txt").readText())
    }

    private fun latin(name: String, text: String): File =
        file(name, "").also {
            it.writeBytes(text.toByteArray(Charsets.ISO_8859_1))
            EncodingProjectManager.getInstance(project).setEncoding(virtualFile(it), Charsets.ISO_8859_1)
        }

    fun `test a file that is not in UTF-8 opens, with a word if that makes a difference`() {
        val word = "It is not UTF-8"
        latin("plain.txt", "cafe")
        val plain = propose("plain.txt", "tea")
        assertFalse(plain.banner, word in plain.banner)
        latin("cafe.txt", "caf\u00e9\n")
        val garbled = propose("cafe.txt", "caf\uFFFD\n")
        assertTrue(garbled.banner, word in garbled.banner)
        File(root, "unknown.txt").writeBytes("caf\u00e9".toByteArray(Charsets.ISO_8859_1))
        val unknown = propose("unknown.txt", "caf\uFFFD!")
        assertTrue(unknown.banner, word in unknown.banner)
        file("replaced.txt", "caf\uFFFD")
        val replaced = propose("replaced.txt", "caf\uFFFD!")
        assertFalse("it is in UTF-8", word in replaced.banner)
        latin("added.txt", "cafe")
        val added = propose("added.txt", "caf\u00e9")
        assertTrue(added.banner, word in added.banner)
        file("a.txt", "caf\u00e9")
        val view = propose("a.txt", "th\u00e9")
        assertFalse(view.banner, word in view.banner)
    }

    fun `test a file that is converted gets the word, and loses it`() {
        val word = "It is not UTF-8"
        val file = virtualFile(file("a.txt", "caf\u00e9"))
        val view = propose("a.txt", "th\u00e9")
        val convert = { charset: Charset ->
            val text = checkNotNull(FileDocumentManager.getInstance().getDocument(file)).text
            EncodingProjectManager.getInstance(project).setEncoding(file, charset)
            WriteCommandAction.runWriteCommandAction(project) { file.setBinaryContent(text.toByteArray(charset)) }
        }
        assertFalse(view.banner, word in view.banner)
        convert(Charsets.ISO_8859_1)
        await("the word") { word in view.banner }
        convert(Charsets.UTF_8)
        await("no word") { word !in view.banner }
    }

    fun `test a file whose bytes become UTF-8 loses the word`() {
        val file = file("a.txt", "")
        file.writeBytes("caf\u00e9".toByteArray(Charsets.ISO_8859_1))
        val view = propose("a.txt", "tea")
        assertTrue(view.banner, "It is not UTF-8" in view.banner)
        file.writeText("caf\u00e9")
        await("no word") { "It is not UTF-8" !in view.banner }
    }

    /** Is as ISO 8859-1, and counts its uses on the EDT. */
    private class CountingCharset : Charset("X-Counting", emptyArray()) {
        var onEdt = 0

        override fun contains(other: Charset) = false

        override fun newDecoder(): CharsetDecoder = Charsets.ISO_8859_1.newDecoder()

        override fun newEncoder(): CharsetEncoder {
            if (EventQueue.isDispatchThread()) onEdt++
            return Charsets.ISO_8859_1.newEncoder()
        }
    }

    fun `test the EDT encodes no text while the user types`() {
        val charset = CountingCharset()
        EncodingProjectManager.getInstance(project).setEncoding(virtualFile(file("a.txt", "cafe")), charset)
        val view = propose("a.txt", "tea")
        charset.onEdt = 0
        view.type("th\u00e9")
        await("a word") { "It is not UTF-8" in view.banner }
        view.type("tea")
        await("no word") { "It is not UTF-8" !in view.banner }
        assertEquals(0, charset.onEdt)
    }

    fun `test an encoding in which nothing can be written has its word, too`() {
        val file = file("a.txt", "one")
        EncodingProjectManager.getInstance(project).setEncoding(virtualFile(file), Charset.forName("ISO-2022-CN"))
        val view = propose("a.txt", "two")
        assertTrue(view.banner, "It is not UTF-8" in view.banner)
        val answer = answer { service.accept(it, path("a.txt")) }
        assertTrue(answer, "does not have all characters" in answer)
        assertEquals("one", file.readText())
    }

    fun `test what the file's encoding lacks is not written as a question mark`() {
        val file = latin("a.txt", "caf\u00e9")
        val view = propose("a.txt", "caf\u00e9 \u2192 th\u00e9")
        val answer = answer { service.accept(it, path("a.txt")) }
        assertTrue(answer, "its encoding, ISO-8859-1, does not have all characters" in answer)
        assertTrue(view.isOpen)
        assertEquals("caf\u00e9", file.readText(Charsets.ISO_8859_1))
        view.type("caf\u00e9!")
        assertEquals(Answer.DONE, answer { service.accept(it, path("a.txt")) })
        assertEquals("caf\u00e9!", file.readText(Charsets.ISO_8859_1))
    }

    /** Creates a link to a folder with a file. */
    private fun linked(): Path {
        file("real/a.txt", "one")
        return Files.createSymbolicLink(Paths.get(path("link")), Paths.get(path("real")))
    }

    fun `test the view is about the file that the user has open by a link`() {
        val link = linked()
        val opened = virtualFile(link.resolve("a.txt").toFile())
        myManager.openFile(opened, false)
        val document = checkNotNull(FileDocumentManager.getInstance().getDocument(opened))
        WriteCommandAction.runWriteCommandAction(project) { document.setText("by hand") }
        val view = propose("real/a.txt", "two")
        assertEquals("by hand", text(view.left))
        assertTrue(view.banner, "unsaved changes" in view.banner)
        view.click("Accept")
        FileDocumentManager.getInstance().reloadFromDisk(document)
        assertEquals("by the name that the CLI has for it", listOf("accepted real/a.txt 'two'"), calls)
        file("elsewhere/a.txt", "another")
        Files.delete(link)
        Files.createSymbolicLink(link, Paths.get(path("elsewhere")))
        assertEquals(Paths.get(path("real/a.txt")), find("real/a.txt").path)
    }

    fun `test a file of a project that was opened by a link is within it`() {
        val link = linked()
        val other = Paths.get(path("other"))
        assertEquals(link.resolve("b.txt"), OpenedPath.belowRoot(listOf(other, link), Paths.get(path("real/b.txt"))))
        val own = Paths.get(path("real/a.txt"))
        assertEquals("it is there", own, OpenedPath.belowRoot(listOf(link, own.parent), own))
        assertEquals(other, OpenedPath.belowRoot(listOf(link), other))
        val real = Paths.get(path("real"))
        assertEquals(Paths.get("b.txt"), ShownPath.within(listOf(link, real), Paths.get(path("real/b.txt"))))
        assertEquals(other, ShownPath.within(listOf(link, real), other))
    }

    fun `test what the platform shows as another text is shown and handed over as it is`() {
        val service = DiffContentFactory::class.java.name
        val container = ApplicationManager.getApplication().picoContainer as MutablePicoContainer
        val platforms = checkNotNull(container.unregisterComponent(service))
        container.registerComponentInstance(service, Presenting())
        try {
            file("a.xml", "<one/>")
            val view = propose("a.xml", "<two/>")
            assertEquals("<two/>", text(view.right))
            view.type("<mine/>")
            val document = checkNotNull(find("a.xml").document)
            WriteCommandAction.runWriteCommandAction(project) { document.setText("by hand") }
            assertTrue(answer { this.service.accept(it, path("a.xml")) }.startsWith("failed: Only the user"))
            FileDocumentManager.getInstance().reloadFromDisk(document)
            assertEquals(Answer.DONE, answer { this.service.accept(it, path("a.xml")) })
            assertEquals("<mine/>", File(root, "a.xml").readText())
            await("its text") { find("a.xml").document?.text == "<mine/>" }
        } finally {
            container.unregisterComponent(service)
            container.registerComponent(platforms)
        }
    }

    /** Shows a file as today's platform shows a notebook, whose file is JSON. */
    private class Presenting : DiffContentFactoryImpl() {
        override fun createEditable(project: Project?, text: String, fileType: FileType?): DocumentContent =
            super.createEditable(project, if (fileType is XmlFileType) "#%%" else text, fileType)
    }

    fun `test a request that takes too long is answered, and only once`() {
        val requests = PendingRequests(1)
        val answer = Answer()
        val pending = requests.add(answer)
        await("an answer") { answer.text != null }
        assertTrue(answer.text.orEmpty().startsWith("failed: The IDE is busy"))
        assertFalse(pending.isWaiting)
        pending.complete()
        requests.dispose()
    }

    fun `test a failure at an answer is logged once`() =
        loggedErrors { logged ->
            val failing = object : Responder<String?> {
                override fun complete(answer: String?) = error("complete")

                override fun fail(message: String) = error("fail")
            }
            val requests = PendingRequests()
            requests.add(failing).complete()
            requests.add(failing).fail(TargetException("none"))
            PendingRequests(1).add(failing)
            await("the log") { logged.size == 3 }
            assertEquals(listOf("complete", "fail", "fail"), logged.map { (it?.cause ?: it)?.message })
        }

    fun `test what has become a file, or a directory, outside is known as that`() {
        val file = file("a/b.txt", "of a folder").parentFile
        refresh()
        FileUtil.delete(file)
        file("a", "text")
        assertEquals("text", find("a").document?.text)
        FileUtil.delete(file)
        file("a/b.txt", "of a folder again")
        assertEquals("of a folder again", find("a/b.txt").document?.text)
        FileUtil.delete(file)
        assertNull(find("a/b.txt").file)
    }

    private fun find(name: String) = offEdt { Target.find(project, path(name)) }

    fun `test a text that is typed stays when the file is renamed while the disk is looked at`() {
        val file = virtualFile(file("a.txt", "one"))
        val document = checkNotNull(FileDocumentManager.getInstance().getDocument(file))
        WriteCommandAction.runWriteCommandAction(project) { document.setText("typed") }
        val isOver = AtomicBoolean()
        val looking = ApplicationManager.getApplication().executeOnPooledThread {
            while (!isOver.get()) FileOnDisk.find(Paths.get(path("a.txt")))
        }
        try {
            repeat(2_000) {
                WriteAction.run<Nothing> { file.rename(this, if (it % 2 == 0) "b.txt" else "a.txt") }
                UIUtil.dispatchAllInvocationEvents()
                assertTrue("gone after $it", file.isValid)
            }
        } finally {
            isOver.set(true)
            await("the last look") { looking.isDone }
        }
        looking.get()
        assertEquals("typed", FileDocumentManager.getInstance().getDocument(file)?.text)
    }
}
