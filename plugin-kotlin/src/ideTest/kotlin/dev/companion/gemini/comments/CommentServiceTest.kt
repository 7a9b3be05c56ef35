// Tests the user's comments on lines of files and proposals.

package dev.companion.gemini.comments

import com.intellij.notification.Notification
import com.intellij.openapi.application.WriteAction
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.impl.DocumentMarkupModel
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.ide.CopyPasteManager
import com.intellij.openapi.util.io.FileUtil
import com.intellij.openapi.vfs.VfsUtil
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.testFramework.PsiTestUtil
import com.intellij.testFramework.TestActionEvent
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.core.CommentOnLines
import dev.companion.gemini.review.DiffTestCase
import dev.companion.gemini.shownNotifications
import java.awt.datatransfer.DataFlavor
import java.io.IOException
import java.nio.file.Files
import java.nio.file.Paths

class CommentServiceTest : DiffTestCase() {
    private lateinit var comments: CommentService
    private lateinit var opened: VirtualFile
    private lateinit var shown: List<Notification>

    /** The messages, without the ids of comments. */
    private val sent get() = calls.map { it.replace(Regex("^set \\S+"), "comment") }
    private val document: Document get() = checkNotNull(FileDocumentManager.getInstance().getDocument(opened))

    override fun setUp() {
        super.setUp()
        shown = shownNotifications(project, testRootDisposable)
        comments = CommentService.getInstance(project)
        comments.connect(core)
        core.forget()
        opened = virtualFile(file("a.txt", "one\n  two\nthree\n"))
        myManager.openFile(opened, true)
    }

    override fun tearDown() {
        try {
            comments.pending().forEach(comments::remove)
            comments.connect(null)
            myManager.closeAllFiles()
        } finally {
            super.tearDown()
        }
    }

    /** Comments on lines, 0-based. */
    private fun comment(lines: IntRange, text: String, document: Document = this.document): Comment {
        write(null, lines, text, document)
        return comments.pending().single { it.params.text == text.trim() }
    }

    /** Rewrites a comment on lines, or writes a new one. */
    private fun write(old: Comment?, lines: IntRange, text: String, document: Document = this.document) {
        val draft = comments.drafts.at(checkNotNull(comments.place(document, lines)), old)
        comments.write(draft, text)
    }

    private fun change(change: (Document) -> Unit) =
        WriteCommandAction.runWriteCommandAction(project) { change(document) }

    /** The user changes the text to [text], and saves it. */
    private fun userWrites(text: String, change: (Document) -> Unit = { it.setText(text) }) {
        change(change)
        assertEquals(text, document.text)
        FileDocumentManager.getInstance().saveDocument(document)
    }

    private fun anotherProgramWrites(text: String) {
        file("a.txt", text)
        VfsUtil.markDirtyAndRefresh(false, false, false, opened)
        assertEquals(text, document.text)
    }

    private fun notice(): String {
        UIUtil.dispatchAllInvocationEvents()
        return shown.last().content
    }

    /** The tooltips in the gutter. */
    private fun gutter(document: Document = this.document) =
        DocumentMarkupModel
            .forDocument(document, project, true)
            .allHighlighters
            .mapNotNull { it.gutterIconRenderer as? CommentIcon }
            .map { it.tooltipText }

    fun `test a comment has the lines and their content`() {
        comment(0..1, " Why <two>?\n")
        assertEquals(listOf("comment a.txt 1 2 one two Why <two>?"), sent)
        assertEquals(listOf("For the CLI: Why &lt;two&gt;?"), gutter())
        assertFalse("Why" in comments.pending().single().params.toString())
    }

    fun `test a moved comment is sent again under its id`() {
        comment(1..1, "why")
        change { it.insertString(0, "zero\n") }
        await("the new line") { core.comments.size > 1 }
        change { it.insertString(0, "zero\n") }
        comments.update()
        comments.update()
        assertEquals(listOf(2, 3, 4), core.comments.map { it.line })
        assertEquals(1, core.comments.map { it.id }.distinct().size)
        change { it.insertString(it.getLineStartOffset(3) + 2, "not ") }
        comments.update()
        assertEquals("not two", core.comments.last().content)
    }

    fun `test a comment follows a file that is renamed`() {
        comment(1..1, "why")
        WriteAction.run<IOException> { opened.rename(this, "b.txt") }
        await("the new name") { sent.last() == "comment b.txt 2 2 two why" }
    }

    fun `test a comment whose lines are deleted follows its file`() {
        comment(1..1, "why")
        change { it.deleteString(it.getLineStartOffset(1), it.getLineStartOffset(2)) }
        WriteAction.run<IOException> { opened.rename(this, "b.txt") }
        await("the new name") { sent.last() == "comment b.txt 2 2 two why" }
    }

    fun `test a comment on a file without a tab follows its folder`() {
        val folder = virtualFile(file("folder/b.txt", "one\ntwo\n")).parent
        virtualFile(file("folder2/b.txt", "one\ntwo\n"))
        comments.restored(
            listOf("folder", "folder2").map { CommentOnLines(it, path("$it/b.txt"), 2, 2, "two", "in $it") },
        )
        await("the comments") { comments.pending().size == 2 }
        WriteAction.run<IOException> { folder.rename(this, "renamed") }
        await("the new name") { sent == listOf("comment renamed/b.txt 2 2 two in folder") }
        WriteAction.run<IOException> { folder.move(this, opened.parent.createChildDirectory(this, "parent")) }
        await("the new folder") { sent.last() == "comment parent/renamed/b.txt 2 2 two in folder" }
    }

    fun `test a draft stays with its renamed file when another file gets the old name`() {
        val draft = { document: Document -> comments.drafts.at(checkNotNull(comments.place(document, 1..1)), null) }
        val renamed = document
        draft(renamed).text = "why"
        WriteAction.run<IOException> { opened.rename(this, "b.txt") }
        val other = checkNotNull(FileDocumentManager.getInstance().getDocument(virtualFile(file("a.txt", "1\n2\n"))))
        assertEquals("", draft(other).text)
        assertEquals("why", draft(renamed).text)
        listOf(renamed, other).forEach { comments.drafts.forget(draft(it)) }
    }

    fun `test of equal lines a comment stays on its own when another program writes the file`() {
        userWrites("a\nx\nb\nx\nc\nx\nd\n")
        comment(5..5, "why")
        anotherProgramWrites("new\nnew\na\nx\nb\nx\nc\nx\nd\nnew\n")
        await("the lines") { core.comments.size > 1 }
        assertEquals("comment a.txt 8 8 x why", sent.last())
    }

    fun `test a comment keeps its mark if another program writes a line between its own`() {
        userWrites("h\nx\ny\nz\nt")
        comment(1..2, "why")
        anotherProgramWrites("H\nx\nnew\ny\nZ\nt")
        await("the lines") { sent.last() == "comment a.txt 2 4 x new y why" }
        assertEquals(1, gutter().size)
    }

    fun `test a comment does not go to a line of another program that ends like its own`() {
        userWrites("a = 1;\nx();\ntail")
        comment(1..1, "why")
        anotherProgramWrites("b = 2;\nx();\ny();\ntail")
        comments.update()
        await("the mark") { gutter().size == 1 }
        change { it.insertString(0, "zero\n") }
        comments.update()
        assertEquals(listOf("comment a.txt 2 2 x(); why", "comment a.txt 3 3 x(); why"), sent)
    }

    fun `test a comment does not grow to lines above that begin like its own`() {
        userWrites("{\n  a();\n  b();\n}\n")
        comment(1..1, "why")
        anotherProgramWrites("{\n  new();\n  more();\n  a();\n  b();\n}\n")
        await("the line") { sent.last() == "comment a.txt 4 4 a(); why" }
        assertEquals(1, gutter().size)
    }

    fun `test a comment on long lines grows with a line between its own`() {
        userWrites("word ".repeat(200) + "\nx\ny\n")
        val comment = comment(0..2, "why")
        change { it.insertString(it.getLineStartOffset(2), "new\n") }
        comments.update()
        assertEquals(1..4, comment.params.run { line..endLine })
    }

    fun `test a comment stays on the line in which another program changes something`() {
        userWrites("head\nx(1);\ntail")
        comment(1..1, "why")
        anotherProgramWrites("head\nx(2);\ntail")
        await("the line") { sent.last() == "comment a.txt 2 2 x(2); why" }
        assertEquals(1, gutter().size)
    }

    fun `test a comment on a line that the user goes on with stays when another program writes elsewhere`() {
        comment(1..1, "why")
        userWrites("one\n  two // and\nthree\n") { it.insertString(it.getLineEndOffset(1), " // and") }
        anotherProgramWrites("zero\none\n  two // and\nthree\n")
        await("the line") { sent.last() == "comment a.txt 3 3 two // and why" }
        assertEquals(1, gutter().size)
    }

    fun `test a comment on a line that the user goes on with stays when another program changes that line`() {
        userWrites("head\nx(1);\ntail")
        comment(1..1, "why")
        userWrites("head\nx(1); // and\ntail") { it.insertString(it.getLineEndOffset(1), " // and") }
        await("the text") { sent.last() == "comment a.txt 2 2 x(1); // and why" }
        anotherProgramWrites("head\nx(2); // and\ntail")
        await("the line") { sent.last() == "comment a.txt 2 2 x(2); // and why" }
        assertEquals(1, gutter().size)
    }

    fun `test deleted lines are marked again once they are back`() {
        comment(1..1, "why")
        change { it.deleteString(it.getLineStartOffset(1), it.getLineStartOffset(2)) }
        comments.update()
        assertEquals(emptyList<String>(), gutter())
        assertEquals("a.txt:2", comments.shown(comments.pending().single()).substringAfterLast('/'))
        change { it.insertString(0, "zero\nzero\n  two\n") }
        comments.update()
        await("the mark") { gutter().size == 1 }
        assertEquals("comment a.txt 3 3 two why", sent.last())
    }

    fun `test deleted lines are looked for while the user goes on`() {
        val lines = (0 until 2_000).map { "line $it" }
        change { it.setText(lines.joinToString("\n")) }
        val comments = (100..1_900 step 100).map { comment(it..it, "why $it") }
        change { it.setText(lines.drop(1).joinToString("\n") { line -> "$line changed" }) }
        this.comments.update()
        change { it.setText("zero\n" + lines.joinToString("\n")) }
        this.comments.update()
        assertEquals("the EDT does not wait", emptyList<String>(), gutter())
        await("the marks") { gutter().size == comments.size }
        assertEquals((101..1_901 step 100).toList(), comments.map { it.lines.first })
    }

    fun `test a rewritten comment is a new one and an empty text removes it`() {
        val old = comment(1..1, "why")
        val place = checkNotNull(comments.place(document, 1..1))
        assertSame(old, comments.on(place))
        write(old, 1..1, "why ")
        assertEquals("it has not changed", 1, core.comments.size)
        write(old, 1..1, "how")
        val (first, second) = core.comments.map { it.id }
        assertEquals(listOf("removed $first", "comment a.txt 2 2 two how"), sent.drop(1))
        write(comments.on(place), 1..1, " ")
        assertEquals("removed $second", sent.last())
        assertEquals(emptyList<String>(), gutter())
        assertEquals(emptyList<Comment>(), comments.pending())
    }

    fun `test the comment that is meant`() {
        val one = comment(1..2, "lines")
        val on = { lines: IntRange -> comments.on(checkNotNull(comments.place(document, lines))) }
        assertSame(one, on(2..2))
        assertSame(one, on(1..2))
        assertNull(on(0..0))
        assertNull(on(0..2))
    }

    fun `test a delivered comment loses its mark`() {
        val first = comment(0..0, "first").params.id
        val others = listOf(comment(1..1, "second"), comment(2..2, "third")).map { it.params.id }
        comments.delivered(listOf(first))
        assertTrue(notice(), notice().matches(Regex("The CLI has your comment on .*a.txt:1\\.")))
        assertEquals(2, gutter().size)
        comments.delivered(others)
        assertEquals("The CLI has your 2 comments.", notice())
        assertEquals(emptyList<String>(), gutter())
    }

    fun `test an unchanged comment that was delivered meanwhile is not sent again`() {
        val comment = comment(0..0, "first")
        comments.delivered(listOf(comment.params.id))
        UIUtil.dispatchAllInvocationEvents()
        write(comment, 0..0, "first")
        assertEquals(1, core.comments.size)
        write(comment, 0..0, "second")
        assertEquals("comment a.txt 1 1 one second", sent.last())
    }

    fun `test a comment that was delivered before its removal is reported`() {
        val comment = comment(0..0, "first")
        comments.remove(comment)
        comments.delivered(listOf(comment.params.id))
        assertEquals("The CLI had your comment before you changed or removed it.", notice())
    }

    fun `test a refused comment loses its mark and the reason shows`() {
        comments.refused(comment(0..0, "first").params.id, "No model gets this comment: it is private.")
        assertTrue(notice(), notice().endsWith("a.txt:1: No model gets this comment: it is private."))
        val copy = shown.last().actions.single()
        assertEquals("Copy comment", copy.templatePresentation.text)
        copy.actionPerformed(TestActionEvent(copy))
        assertEquals("first", CopyPasteManager.getInstance().getContents<String>(DataFlavor.stringFlavor))
        assertEquals(emptyList<String>(), gutter())
        assertEquals(emptyList<Comment>(), comments.pending())
    }

    fun `test comments of the last run are marked where their lines are`() {
        val removed = comment(0..0, "removed").also(comments::remove).params
        val kept = CommentOnLines("kept", path("b.txt"), 1, 1, "two", "why")
        comments.restored(listOf(removed, kept))
        await("the comment") { comments.pending().map { it.params } == listOf(kept) }
        val file = virtualFile(file("b.txt", "one\ntwo\n"))
        myManager.openFile(file, true)
        val opened = checkNotNull(FileDocumentManager.getInstance().getDocument(file))
        await("the mark") { gutter(opened).size == 1 }
        assertEquals("comment b.txt 2 2 two why", sent.last())
    }

    fun `test a new server gets all comments`() {
        val id = comment(1..1, "why").params.id
        val removed = comment(0..0, "removed").also(comments::remove).params.id
        comments.connect(null)
        change { it.insertString(0, "zero\n") }
        val next = RecordingCore()
        comments.connect(next)
        assertTrue("removed $removed" in next.calls)
        assertEquals(listOf(Pair(id, 3)), next.comments.map { Pair(it.id, it.line) })
    }

    fun `test a comment in a proposal has its lines and outlives it`() {
        file("b.txt", "one\ntwo\n")
        val view = propose("b.txt", "one\nTWO\nnew\n")
        val proposed = view.right.document
        core.forget()
        comment(2..2, "why", proposed)
        assertEquals(listOf("comment b.txt 3 3 new why"), sent)
        assertEquals(1, gutter(proposed).size)
        view.click("Reject")
        await("the end") { service.waiting().isEmpty() }
        assertEquals(emptyList<String>(), gutter(proposed))
        val file = virtualFile(file("b.txt", "new\n"))
        VfsUtil.markDirtyAndRefresh(false, false, false, file)
        assertEquals(3, comments.pending().single().params.line)
        comments.show(comments.pending().single())
        await("the file") { file in myManager.selectedFiles }
        await("the mark") { sent.last() == "comment b.txt 1 1 new why" }
    }

    fun `test a comment opens the file of a project that was opened by a link`() {
        val real = FileUtil.createTempDirectory("real", "").toPath().toRealPath()
        Files.write(real.resolve("b.txt"), "one\n".toByteArray())
        val link = virtualFile(Files.createSymbolicLink(Paths.get(path("link")), real).toFile())
        PsiTestUtil.addContentRoot(myFixture.module, link)
        try {
            val path = real.resolve("b.txt").toString()
            comments.restored(listOf(CommentOnLines("linked", path, 1, 1, "one", "why")))
            await("the comment") { comments.pending().isNotEmpty() }
            comments.show(comments.pending().single())
            await("the file") { myManager.selectedFiles.any { it.name == "b.txt" } }
            assertEquals(listOf("${link.path}/b.txt"), myManager.selectedFiles.map { it.path })
            await("the mark") { sent.lastOrNull() == "comment link/b.txt 1 1 one why" }
        } finally {
            PsiTestUtil.removeContentEntry(myFixture.module, link)
        }
    }

    fun `test other documents have no place`() {
        val view = propose("b.txt", "one\n")
        assertNull("the side of a file that does not exist", comments.place(view.left.document, 0..0))
    }
}
