// Tests the tab of a proposal.

package dev.companion.gemini.tabs

import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.fileEditor.impl.EditorHistoryManager
import com.intellij.openapi.fileTypes.PlainTextFileType
import com.intellij.openapi.util.io.FileUtil
import com.intellij.psi.xml.XmlTokenType
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.review.Answer
import dev.companion.gemini.review.DiffTestCase
import java.io.File
import java.nio.file.Files
import java.nio.file.Paths
import javax.swing.JEditorPane

class ProposalTabTest : DiffTestCase() {
    fun `test the current file is the one in the editor, saved or not`() {
        val document = checkNotNull(FileDocumentManager.getInstance().getDocument(virtualFile(file("a.txt", "one"))))
        WriteCommandAction.runWriteCommandAction(project) { document.setText("unsaved") }
        val view = propose("a.txt", "two")
        assertEquals("unsaved", text(view.left))
        assertTrue(view.banner, "unsaved changes" in view.banner)
    }

    fun `test both sides are highlighted as the file is`() {
        file("a.xml", "<a/>")
        val view = propose("a.xml", "<b/>")
        for (editor in listOf(view.left, view.right)) {
            assertEquals(XmlTokenType.XML_START_TAG_START, editor.highlighter.createIterator(0).tokenType)
        }
    }

    fun `test a new file is shown against nothing, highlighted as its name says`() {
        val view = propose("no/such/folder/a.xml", "<b/>")
        assertEquals("", text(view.left))
        assertEquals(XmlTokenType.XML_START_TAG_START, view.right.highlighter.createIterator(0).tokenType)
        val offer = "The CLI proposes the new file ${root.name}/no/such/folder/a.xml. +1 \u22120 |"
        assertTrue(view.banner, view.banner.startsWith(offer))
        assertFalse(File(root, "no").exists())
    }

    fun `test a file that is deleted is not said to be new`() {
        val file = file("a.txt", "one")
        val view = propose("a.txt", "two")
        assertTrue("${titles(view)}", titles(view).any { it.startsWith("Current: ") })
        assertTrue(file.delete())
        await("the word about it") { "It has been deleted" in view.banner }
        assertTrue("${titles(view)}", titles(view).any { it.startsWith("Deleted: ") })
        assertTrue(titles(propose("b.txt", "two")).any { it.startsWith("New file: ") })
    }

    private fun titles(view: View): List<String> =
        UIUtil
            .findComponentsOfType(view.component, JEditorPane::class.java)
            .map { it.document.getText(0, it.document.length).trim() }

    fun `test a name without a known ending is text`() {
        file("LICENSE-OF-MINE", "one")
        assertEquals("two", text(propose("LICENSE-OF-MINE", "two").right))
        val proposal = checkNotNull(propose("new-thing.qqq", "three").file.proposal)
        assertEquals(PlainTextFileType.INSTANCE, proposal.target.type)
    }

    fun `test neither BOM nor Windows' lines are shown as changes`() {
        file("a.txt", "\uFEFFone\r\ntwo\r\n")
        val view = propose("a.txt", "\uFEFFone\r\ntwo\r\n")
        assertEquals("one\ntwo\n", text(view.left))
        assertEquals("one\ntwo\n", text(view.right))
    }

    fun `test a file outside the project opens, with a word`() {
        val folder = Files.createTempDirectory("outside").toFile()
        try {
            val outside = File(folder, "a.txt").apply { writeText("one") }
            assertEquals(Answer.DONE, answer { service.open(it, outside.path, "two") })
            val banner = View(tabs().single()).banner
            assertTrue(banner, "It is outside this project." in banner)
        } finally {
            FileUtil.delete(folder)
        }
    }

    fun `test a path that leads out of the project is outside, whatever it begins with`() {
        val project = checkNotNull(project.basePath)
        val folder = Files.createTempDirectory("outside").toRealPath()
        try {
            Files.createDirectory(folder.resolve("sub"))
            Files.createSymbolicLink(Paths.get(path("link")), folder.resolve("sub"))
            val names = listOf("gone/../../../outside.txt", "link/../outside.txt")
            for (path in names.map(::path) + "$project/../outside.txt") {
                assertEquals(Answer.DONE, answer { service.open(it, path, "two") })
                val view = View(tabs().single { it.targetPath == path })
                assertTrue(view.banner, "It is outside this project." in view.banner)
                view.click("Reject")
            }
            propose("sub/../a.txt", "two")
            assertFalse(view("sub/../a.txt").banner, "outside" in view("sub/../a.txt").banner)
        } finally {
            FileUtil.delete(folder.toFile())
        }
    }

    fun `test a private file opens, with a word`() {
        file("a.key", "one")
        assertEquals(Answer.DONE, answer { service.open(core, it, diff(path("a.key"), "two").copy(private = true)) })
        val banner = view("a.key").banner
        assertTrue(banner, "a.key. +1 \u22121 It is private: the IDE shares nothing else about it. |" in banner)
    }

    fun `test a file that is read-only opens, with a word, and its proposal can be edited`() {
        val file = file("a.txt", "one")
        assertTrue(file.setWritable(false))
        val view = propose("a.txt", "two")
        assertTrue(view.banner, "It is read-only." in view.banner)
        view.type("three")
        assertEquals("three", text(view.right))
        file.setWritable(true)
    }

    fun `test a second proposal for a file takes the first one's place`() {
        for (name in listOf("a.txt", "b.txt", "c.txt")) propose(name, "first")
        val tab = view("b.txt").file
        view("b.txt").type("edited")
        val second = propose("b.txt", "second")
        assertSame(tab, second.file)
        val inOrder = checkNotNull(myManager.currentWindow).files.map { it.name }
        assertEquals(listOf("a.txt", "b.txt", "c.txt"), inOrder)
        await("the second text") { text(second.right) == "second" }
        assertEquals("the first is not decided", emptyList<String>(), calls)
        second.click("Accept")
        assertEquals(listOf("accepted b.txt 'second'"), calls)
    }

    fun `test a tab leaves no traces`() {
        val view = propose("a.txt", "two")
        view.click("Accept")
        assertFalse(view.isOpen)
        assertFalse("nobody can open it again", view.file.isValid)
        assertFalse(EditorHistoryManager.getInstance(project).fileList.any { it is ProposalFile })
    }

    fun `test nobody else shows the tab's file`() {
        propose("a.md", "two")
        val tab = tabs().single()
        assertEquals(
            listOf("companion-proposal"),
            myManager.getEditorsWithProviders(tab).second.map { it.editorTypeId },
        )
        assertNull(FileDocumentManager.getInstance().getDocument(tab))
    }
}
