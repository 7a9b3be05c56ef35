// Owns the tests of the file that a proposal is for: what can't be shown, what changes meanwhile, how it is written.

package dev.companion.gemini.diff

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.WriteAction
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.command.undo.UndoManager
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.ui.Messages
import com.intellij.openapi.util.io.FileUtil
import com.intellij.openapi.vfs.LocalFileSystem
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.offEdt
import java.io.File
import java.nio.file.Files
import java.nio.file.Paths
import java.util.concurrent.atomic.AtomicBoolean

class TargetTest : DiffTestCase() {
    private fun refusal(name: String, text: String = "two"): String {
        val answer = answer { service.open(it, path(name), text) }
        assertEquals(emptyList<ProposalFile>(), tabs())
        return answer.removeSuffix(path(name))
    }

    private fun refresh() = virtualFile(root).refresh(false, true)

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

    fun `test a file too large for the viewer is refused`() {
        File(root, "a.txt").writeBytes(ByteArray(21 shl 20) { 'x'.code.toByte() })
        val message = "failed: The file is too large for the diff viewer of the IDE: "
        assertEquals(message, refusal("a.txt"))
        assertEquals(message, refusal("new.txt", "x".repeat(21 shl 20)))
    }

    fun `test what is no path is refused`() {
        for (path in listOf("", "a.txt", "\u0000", "/")) {
            assertTrue(answer { service.open(it, path, "two") }.startsWith("failed: This is no absolute path"))
        }
    }

    fun `test a file that is deleted meanwhile is shown so, and nothing is lost`() {
        val file = file("a.txt", "one\r\n")
        val view = propose("a.txt", "two")
        view.type("mine\n")
        FileUtil.delete(file)
        refresh()
        await("a word") { "deleted meanwhile" in view.banner }
        assertTrue(view.banner, "proposes to change" in view.banner)
        assertEquals("mine\n", text(view.right))
        val former = Messages.setTestDialog { 2 }
        view.click("Accept")
        Messages.setTestDialog(former)
        assertEquals("after the question", listOf("accepted a.txt 'mine\r\n'"), told)
    }

    fun `test a directory that is deleted meanwhile is noticed, too`() {
        file("folder/a.txt", "one")
        val view = propose("folder/a.txt", "two")
        FileUtil.delete(File(root, "folder"))
        refresh()
        await("a word") { "deleted meanwhile" in view.banner }
    }

    fun `test a file that changes meanwhile shows as it is now, with a word`() {
        val file = file("a.txt", "one")
        val view = propose("a.txt", "two")
        view.type("mine")
        file.writeText("changed")
        refresh()
        await("a word") { "changed meanwhile" in view.banner }
        assertEquals("changed", text(view.left))
        assertEquals("mine", text(view.right))
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
        assertEquals(listOf("accepted a.txt '\uFEFFmine\r\n'"), told)
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
        assertEquals(emptyList<String>(), told)
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
