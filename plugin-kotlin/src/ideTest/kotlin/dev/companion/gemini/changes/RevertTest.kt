// Tests that changes of a CLI are reverted, undone, and never lose the user's later edits without a question.

package dev.companion.gemini.changes

import com.intellij.diff.contents.DocumentContent
import com.intellij.diff.requests.ContentDiffRequest
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.command.undo.UndoManager
import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.event.DocumentEvent
import com.intellij.openapi.editor.event.DocumentListener
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.fileEditor.FileDocumentManagerListener
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.progress.ProcessCanceledException
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.vfs.VirtualFileManager
import com.intellij.openapi.vfs.encoding.EncodingProjectManager
import com.intellij.openapi.vfs.newvfs.BulkFileListener
import com.intellij.openapi.vfs.newvfs.events.VFileCreateEvent
import com.intellij.openapi.vfs.newvfs.events.VFileDeleteEvent
import com.intellij.openapi.vfs.newvfs.events.VFileEvent
import com.intellij.testFramework.LoggedErrorProcessor
import com.intellij.testFramework.PlatformTestUtil
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.blockUntil
import dev.companion.gemini.core.ChangedText
import dev.companion.gemini.offEdt
import org.apache.log4j.Logger
import java.io.File
import java.nio.charset.Charset
import java.nio.file.Files
import java.nio.file.Paths

class RevertTest : ChangesTestCase() {
    private fun isUnsaved(name: String) = FileDocumentManager.getInstance().isFileModified(virtualFile(name))

    /** Makes the server warn about a file. */
    private fun warned(name: String) {
        core.warnings[path(name)] = "$name has changed"
    }

    private fun read(row: ChangeRow): Pair<FileVersions, ChangedText> =
        Pair(checkNotNull(FileVersions.of(project, listOf(row))), checkNotNull(row.texts()))

    fun testAChangedFileIsRevertedSavedAndUndone() {
        file("a.txt", "one\ntwo\n")
        document("a.txt")
        changed(1, Edit("a.txt", "one\ntwo\n", "one\nTWO\n"))
        revert(row(1, "a.txt"))
        assertEquals("one\ntwo\n", onDisk("a.txt"))
        assertEquals("one\ntwo\n", document("a.txt").text)
        assertFalse("it is saved", isUnsaved("a.txt"))
        assertEquals(listOf("reverted s 1 a.txt"), calls)
        assertEquals(emptyList<String>(), questions)
        undo()
        assertEquals("one\nTWO\n", document("a.txt").text)
        assertEquals(listOf("reverted s 1 a.txt", "revertUndone s 1 a.txt"), calls)
        redo()
        assertEquals("one\ntwo\n", document("a.txt").text)
        assertEquals("reverted s 1 a.txt", calls.last())
    }

    fun testACreatedFileIsDeletedAndComesBackByUndo() {
        changed(1, Edit("new/a.txt", null, "text\n"))
        revert(row(1, "new/a.txt"))
        assertNull(onDisk("new/a.txt"))
        assertEquals(listOf("reverted s 1 new/a.txt"), calls)
        undo()
        assertEquals("text\n", onDisk("new/a.txt"))
        assertEquals("revertUndone s 1 new/a.txt", calls.last())
    }

    fun testADeletedFileIsCreatedAndGoneByUndo() {
        file("a.txt", "text\r\n")
        changed(1, Edit("a.txt", "text\r\n", null))
        revert(row(1, "a.txt"))
        assertEquals("text\r\n", onDisk("a.txt"))
        undo()
        assertNull(onDisk("a.txt"))
        assertEquals(listOf("reverted s 1 a.txt", "revertUndone s 1 a.txt"), calls)
    }

    fun testAnUndoBeforeTheReportOfTheRevertIsReportedAfterIt() {
        file("a.txt", "one")
        changed(1, Edit("a.txt", "one", "two"))
        val document = document("a.txt")
        val undoing = object : DocumentListener {
            override fun documentChanged(event: DocumentEvent) {
                document.removeDocumentListener(this)
                ApplicationManager.getApplication().invokeLater { undo() }
            }
        }
        document.addDocumentListener(undoing)
        ChangeRevert(project).revert(listOf(row(1, "a.txt")))
        val reports = listOf("revertUndone s 1 a.txt", "reverted s 1 a.txt", "revertUndone s 1 a.txt")
        await("all reports") { calls == reports }
        assertEquals("two", document.text)
    }

    fun testARevertIsUndoneInItsOwnFilesOnly() {
        file("a.txt", "one")
        file("mine.txt", "mine")
        changed(1, Edit("a.txt", "one", "two"))
        val editors = FileEditorManager.getInstance(project)
        val opened = listOf("a.txt", "mine.txt").map(::virtualFile).map { editors.openFile(it, true).single() }
        revert(row(1, "a.txt"))
        val names = opened.map { UndoManager.getInstance(project).getUndoActionNameAndDescription(it).first }
        assertEquals(listOf(true, false), names.map { "Revert" in it })
    }

    fun testTheFormOfTheTextComesBack() {
        file("a.txt", "\uFEFFone\r\ntwo\r\n")
        changed(1, Edit("a.txt", "\uFEFFone\r\ntwo\r\n", "ONE\ntwo\n"))
        revert(row(1, "a.txt"))
        assertEquals("\uFEFFone\r\ntwo\r\n", onDisk("a.txt"))
        file("b.txt", "one\r\ntwo\r\n")
        changed(2, Edit("b.txt", "one\r\ntwo\r\n", "one\ntwo\n"))
        revert(row(2, "b.txt"))
        assertEquals("only the line endings differ", "one\r\ntwo\r\n", onDisk("b.txt"))
        val refusal = runCatching { undo() }.exceptionOrNull()?.message.orEmpty()
        assertTrue(refusal, "cannot be undone" in refusal)
        assertEquals(listOf("reverted s 1 a.txt", "reverted s 2 b.txt"), calls)
        assertEquals(emptyList<String>(), questions)
    }

    fun testALaterEditIsNotLostWithoutAQuestion() {
        file("a.txt", "one")
        changed(1, Edit("a.txt", "one", "two"))
        type("a.txt", "two and mine")
        warned("a.txt")
        revertInVain(row(1, "a.txt"))
        assertEquals("the server's question", "a.txt has changed", questions.single())
        assertEquals("two and mine", document("a.txt").text)
        answering(2)
        revert(row(1, "a.txt"))
        assertEquals("one", onDisk("a.txt"))
        undo()
        assertEquals("two and mine", document("a.txt").text)
    }

    fun testAnEditDuringTheQuestionIsAskedAboutAgain() {
        file("a.txt", "one")
        changed(1, Edit("a.txt", "one", "two"))
        type("a.txt", "two and mine")
        warned("a.txt")
        answering(2) { if (questions.size == 1) type("a.txt", "two and more") }
        revert(row(1, "a.txt"))
        assertEquals("asked about the later text", 2, questions.size)
        assertEquals("one", onDisk("a.txt"))
    }

    fun testASaveDuringTheQuestionIsNotAskedAboutAgain() {
        file("a.txt", "one\r\n")
        changed(1, Edit("a.txt", "one\r\n", "two\r\n"))
        type("a.txt", "two and mine\n")
        warned("a.txt")
        answering(2) { FileDocumentManager.getInstance().saveDocument(document("a.txt")) }
        revert(row(1, "a.txt"))
        assertEquals("the text is the same", 1, questions.size)
        val texts = core.planned.map { Pair(it.disk, it.unsaved) }
        assertEquals(listOf(Pair("two\r\n", "two and mine\r\n"), Pair("two and mine\r\n", null)), texts)
        assertEquals("one\r\n", onDisk("a.txt"))
    }

    fun testAChangeOnTheDiskDuringTheQuestionIsAskedAboutAgain() {
        file("a.txt", "one")
        changed(1, Edit("a.txt", "one", "two"))
        val by = "by another program"
        warned("a.txt")
        answering(2) { if (questions.size == 1) write("a.txt", by) }
        revert(row(1, "a.txt"))
        assertEquals("asked about the later text", 2, questions.size)
        assertEquals(listOf("two", by, by), core.planned.map { it.disk })
        assertEquals("one", onDisk("a.txt"))
    }

    fun testTwoPromptsAreRevertedTogether() {
        file("a.txt", "one")
        changed(1, Edit("a.txt", "one", "two"))
        changed(2, Edit("a.txt", "two", "three"))
        revert(row(1, "a.txt"), row(2, "a.txt"))
        assertEquals(listOf(1L, 2L), core.planned.single().prompts.map { it.number })
        assertEquals("one", onDisk("a.txt"))
        assertEquals(listOf("reverted s 1 a.txt", "reverted s 2 a.txt"), calls)
    }

    fun testTheServerGetsTheTextsAsOnTheDisk() {
        file("a.txt", "\uFEFFone\r\n")
        changed(1, Edit("a.txt", "\uFEFFone\r\n", "\uFEFFtwo\r\nthree\r\n"))
        warned("a.txt")
        revertInVain(row(1, "a.txt"))
        type("a.txt", "mine\n")
        revertInVain(row(1, "a.txt"))
        val texts = core.planned.map { Pair(it.disk, it.unsaved) }
        val disk = "\uFEFFtwo\r\nthree\r\n"
        assertEquals(listOf(Pair(disk, null), Pair(disk, "\uFEFFmine\r\n")), texts)
        FileDocumentManager.getInstance().reloadFromDisk(document("a.txt"))
    }

    fun testMixedLineEndingsComeBack() {
        file("a.txt", "one\r\ntwo\n")
        changed(1, Edit("a.txt", "one\r\ntwo\n", "ONE\ntwo\n"))
        revert(row(1, "a.txt"))
        assertEquals("one\r\ntwo\n", onDisk("a.txt"))
        assertEquals("one\ntwo\n", document("a.txt").text)
    }

    fun testTheBytesComeBackWhateverTheEncoding() {
        val encodings = EncodingProjectManager.getInstance(project)
        encodings.defaultCharsetName = "windows-1252"
        val before = "caf\u00e9\n"
        file("a.txt", before)
        changed(1, Edit("a.txt", before, "cafe\n"))
        assertEquals("cafe\n", document("a.txt").text)
        assertEquals("pure ASCII has the project's encoding", "windows-1252", virtualFile("a.txt").charset.name())
        revert(row(1, "a.txt"))
        assertEquals(before, onDisk("a.txt"))
        assertEquals(before, document("a.txt").text)
        undo()
        assertEquals("cafe\n", document("a.txt").text)
        redo()
        FileDocumentManager.getInstance().saveAllDocuments()
        assertEquals("made again", before, onDisk("a.txt"))
        file("b.txt", "one\n")
        encodings.setEncoding(virtualFile("b.txt"), Charset.forName("ISO-2022-CN"))
        changed(2, Edit("b.txt", "one\n", "two\n"))
        revert(row(2, "b.txt"))
        assertEquals("the IDE can only read this encoding", "one\n", onDisk("b.txt"))
        assertEquals(emptyList<String>(), notified)
    }

    fun testAFolderWithTheNameOfAFileIsReportedAndOtherFilesAreReverted() {
        file("a.txt", "a")
        file("b.txt", "b")
        changed(1, Edit("a.txt", "a", null), Edit("b.txt", "b", "B"))
        check(File(root, "a.txt").mkdir())
        revert(*rows(1).toTypedArray())
        assertEquals("b", onDisk("b.txt"))
        assertEquals(listOf("reverted s 1 b.txt"), calls)
        val text = notified.single()
        assertTrue(text, text.endsWith("a.txt: a folder has its name now"))
    }

    fun testATextThatAnotherPluginHasMadeReadOnlyIsReportedAndOtherFilesAreReverted() {
        file("a.txt", "\uFEFFa\r\n")
        file("b.txt", "b")
        changed(1, Edit("a.txt", "\uFEFFa\r\n", "A\n"), Edit("b.txt", "b", "B"))
        document("a.txt").setReadOnly(true)
        revert(*rows(1).toTypedArray())
        assertEquals(listOf("A\n", "b"), listOf("a.txt", "b.txt").map(::onDisk))
        assertEquals(listOf("reverted s 1 b.txt"), calls)
        assertTrue(notified.single(), "a.txt: " in notified.single())
        document("a.txt").setReadOnly(false)
        type("a.txt", "mine\n")
        FileDocumentManager.getInstance().saveAllDocuments()
        assertEquals("without a BOM, and with its line endings", "mine\n", onDisk("a.txt"))
    }

    /** Another plugin cancels at the second of three files. */
    fun testFilesUpToOneThatIsCanceledAfterItsChangeAreSavedAndReported() {
        val names = listOf("a.txt", "b.txt", "c.txt")
        file("a.txt", "a")
        file("b.txt", "\uFEFFb\r\n")
        file("c.txt", "c")
        changed(1, Edit("a.txt", "a", "A"), Edit("b.txt", "\uFEFFb\r\n", "B\n"), Edit("c.txt", "c", "C"))
        val canceling = object : DocumentListener {
            override fun documentChanged(event: DocumentEvent): Unit = throw ProcessCanceledException()
        }
        document("b.txt").addDocumentListener(canceling, testRootDisposable)
        allowingCancel { revert(*rows(1).toTypedArray()) }
        assertEquals("the platform sets b.txt", listOf("a", "b\n", "C"), names.map { document(it).text })
        FileDocumentManager.getInstance().saveAllDocuments()
        assertEquals(listOf("a", "\uFEFFb\r\n", "C"), names.map(::onDisk))
        assertCanceledAfterB()
    }

    private fun assertCanceledAfterB() {
        assertEquals(listOf("reverted s 1 a.txt b.txt"), calls)
        val text = notified.single()
        assertTrue(text, "b.txt" !in text && text.endsWith("c.txt: another plugin canceled the revert"))
    }

    fun testAFileWhoseCreationIsCanceledAfterwardsHasItsTextAndIsReported() {
        file("b.txt", "b")
        revertCanceledAfter<VFileCreateEvent>(Edit("b.txt", "b", null))
        assertEquals(listOf("a", "b", "C"), listOf("a.txt", "b.txt", "c.txt").map(::onDisk))
    }

    fun testAFileWhoseDeletionIsCanceledAfterwardsIsReported() {
        revertCanceledAfter<VFileDeleteEvent>(Edit("b.txt", null, "B"))
        assertEquals(listOf("a", null, "C"), listOf("a.txt", "b.txt", "c.txt").map(::onDisk))
    }

    /** Another plugin cancels once the platform has changed b.txt, the second of three files. */
    private inline fun <reified E : VFileEvent> revertCanceledAfter(edit: Edit) {
        file("a.txt", "a")
        file("c.txt", "c")
        changed(1, Edit("a.txt", "a", "A"), edit, Edit("c.txt", "c", "C"))
        val canceling = object : BulkFileListener {
            override fun after(events: List<VFileEvent>) {
                if (events.any { it is E && it.path.endsWith("/b.txt") }) throw ProcessCanceledException()
            }
        }
        project.messageBus.connect(testRootDisposable).subscribe(VirtualFileManager.VFS_CHANGES, canceling)
        allowingCancel { revert(*rows(1).toTypedArray()) }
        assertCanceledAfterB()
    }

    /** The platform logs the cancel as an error and goes on. In a test such an error would replace the cancel. */
    private fun allowingCancel(work: () -> Unit) {
        val processor = object : LoggedErrorProcessor() {
            override fun processError(text: String?, thrown: Throwable?, details: Array<out String>?, log: Logger) {
                if (thrown?.cause !is ProcessCanceledException) super.processError(text, thrown, details, log)
            }
        }
        LoggedErrorProcessor.setNewInstance(processor)
        try {
            work()
        } finally {
            LoggedErrorProcessor.restoreDefaultProcessor()
        }
    }

    fun testAFileThatAnotherPluginDoesNotLetBeSavedIsReportedAndOtherFilesAreReverted() =
        revertUnsaved("a", "A", "a", IllegalStateException("not now"))

    fun testAFileOfMixedLineEndingsThatAnotherPluginDoesNotLetBeSavedIsReportedAndOtherFilesAreReverted() =
        revertUnsaved("a\r\na\n", "A\n", "a\na\n", IllegalStateException("not now"))

    fun testAFileOfMixedLineEndingsWhoseSaveIsCanceledIsReportedAndOtherFilesAreReverted() =
        revertUnsaved("a\r\na\n", "A\n", "a\na\n", ProcessCanceledException())

    /** Another plugin fails or cancels at the save of a.txt, whose document gets [text] nevertheless. */
    private fun revertUnsaved(before: String, left: String, text: String, failure: RuntimeException) {
        file("a.txt", before)
        file("b.txt", "b")
        changed(1, Edit("a.txt", before, left), Edit("b.txt", "b", "B"))
        val refused = document("a.txt")
        val refusing = object : FileDocumentManagerListener {
            override fun beforeDocumentSaving(document: Document) {
                if (document === refused) throw failure
            }
        }
        val plugin = Disposer.newDisposable()
        PlatformTestUtil.registerExtension(FileDocumentManagerListener.EP_NAME, refusing, plugin)
        try {
            revert(*rows(1).toTypedArray())
        } finally {
            Disposer.dispose(plugin)
        }
        assertEquals(listOf(left, "b"), listOf("a.txt", "b.txt").map(::onDisk))
        assertEquals(listOf("reverted s 1 b.txt"), calls)
        assertTrue(notified.single(), notified.single().endsWith("a.txt: it could not be saved"))
        assertEquals(text, refused.text)
    }

    fun testOnlyTheOtherFilesAreRevertedIfTheUserWants() {
        file("a.txt", "a")
        file("b.txt", "b")
        changed(1, Edit("a.txt", "a", "A"), Edit("b.txt", "b", "B"))
        type("b.txt", "mine")
        warned("b.txt")
        answering(2)
        revert(*rows(1).toTypedArray())
        assertEquals(listOf("b.txt has changed"), questions)
        assertEquals("a", onDisk("a.txt"))
        assertEquals("mine", document("b.txt").text)
        assertEquals(listOf("reverted s 1 a.txt"), calls)
    }

    fun testAFileThatHasItsTextBackIsOnlyReported() {
        file("a.txt", "one")
        changed(1, Edit("a.txt", "one", "two"))
        type("a.txt", "one")
        revert(row(1, "a.txt"))
        assertEquals(emptyList<String>(), questions)
        assertEquals(listOf("reverted s 1 a.txt"), calls)
    }

    fun testALostTextIsReported() {
        file("a.txt", "one")
        changed(1, Edit("a.txt", "one", "two"))
        core.texts.clear()
        revertInVain(row(1, "a.txt"))
        val text = notified.single()
        assertTrue(text, text.endsWith("a.txt: the text is gone"))
        assertEquals("two", onDisk("a.txt"))
    }

    fun testALostTextIsReportedAlsoIfTheUserTypesInAnotherFileMeanwhile() {
        file("a.txt", "a")
        file("b.txt", "b")
        changed(1, Edit("a.txt", "a", "A"), Edit("b.txt", "b", "B"))
        core.texts.remove(Triple("s", 1L, path("a.txt")))
        ChangeRevert(project).revert(rows(1))
        blockUntil(10, "the plan") { core.planned.isNotEmpty() }
        type("b.txt", "mine")
        await("the report") { calls == listOf("reverted s 1 b.txt") }
        UIUtil.dispatchAllInvocationEvents()
        assertTrue("$notified", notified.single().endsWith("a.txt: the text is gone"))
    }

    fun testUnsavedTextOverAnUnreadChangeIsNotWritten() {
        file("a.txt", "one")
        changed(1, Edit("a.txt", "one", "two"))
        type("a.txt", "mine")
        File(root, "a.txt").writeText("by another program")
        revertInVain(row(1, "a.txt"))
        val text = notified.single()
        assertTrue(text, text.endsWith("it has unsaved changes and has also changed on the disk"))
        assertEquals("by another program", onDisk("a.txt"))
        assertEquals("mine", document("a.txt").text)
        type("a.txt", "two")
        FileDocumentManager.getInstance().reloadFromDisk(document("a.txt"))
    }

    fun testTheDeletedFileOfALinkComesBackWhereTheLinkLeads() {
        file("real.txt", "one")
        Files.createSymbolicLink(Paths.get(path("link.txt")), Paths.get("real.txt"))
        changed(1, Edit("link.txt", "one", "two"))
        write("real.txt", null)
        revert(row(1, "link.txt"))
        assertEquals("one", onDisk("real.txt"))
        assertEquals(listOf("reverted s 1 link.txt"), calls)
        assertEquals(emptyList<String>(), notified)
    }

    fun testEmptyFilesOfAnUnknownTypeAreReverted() {
        file("LICENSE", "one\n")
        changed(1, Edit("LICENSE", "one\n", ""), Edit(".gitkeep", null, ""))
        val (versions, texts) = offEdt { read(row(1, "LICENSE")) }
        val request = ChangeDiffs(project).two(versions, texts) as ContentDiffRequest
        assertEquals(listOf("one\n", ""), request.contents.map { (it as DocumentContent).document.text })
        revert(*rows(1).toTypedArray())
        assertEquals(listOf("one\n", null), listOf("LICENSE", ".gitkeep").map(::onDisk))
        assertEquals(emptyList<String>(), notified)
        assertEquals(listOf("reverted s 1 .gitkeep LICENSE"), calls)
    }
}
