// Tests the tab with all changes of a prompt: its text, its reverts, and the way to the files.

package dev.companion.gemini.changes

import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.command.undo.UndoManager
import com.intellij.openapi.components.impl.ComponentManagerImpl
import com.intellij.openapi.editor.LogicalPosition
import com.intellij.openapi.editor.impl.DocumentMarkupModel
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.ex.FileEditorProviderManager
import com.intellij.openapi.fileEditor.impl.FileEditorManagerImpl
import com.intellij.openapi.fileEditor.impl.FileEditorProviderManagerImpl
import com.intellij.ui.docking.DockManager
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.awaitGone
import dev.companion.gemini.blockUntil
import dev.companion.gemini.core.ChangeKind
import dev.companion.gemini.core.ChangedFile
import dev.companion.gemini.core.CliChange
import dev.companion.gemini.core.CliCommand
import dev.companion.gemini.core.Hunk
import dev.companion.gemini.core.PromptKey
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.eventOn
import dev.companion.gemini.loggedErrors
import dev.companion.gemini.target.ShownPath
import java.io.File
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger

class PromptDiffTest : ChangesTestCase() {
    private lateinit var files: FileEditorManagerImpl
    private lateinit var testManager: FileEditorManager
    private val file get() = files.openFiles.filterIsInstance<PromptDiffFile>().single()
    private val tab get() = files.getAllEditors(file).single() as PromptDiffEditor
    private val text get() = file.document.text.replace(ShownPath.of(project, root.toPath()) + File.separator, "")

    /** The manager of the test platform opens no tabs. */
    override fun setUp() {
        super.setUp()
        files = FileEditorManagerImpl(project, DockManager.getInstance(project))
        val components = project as ComponentManagerImpl
        testManager = components.registerComponentInstance(FileEditorManager::class.java, files)
    }

    override fun tearDown() {
        try {
            (project as ComponentManagerImpl).registerComponentInstance(FileEditorManager::class.java, testManager)
            files.closeAllFiles()
            (FileEditorProviderManager.getInstance() as FileEditorProviderManagerImpl).clearSelectedProviders()
        } finally {
            super.tearDown()
        }
    }

    /** Two changes of a.txt, and a new file. */
    private fun twoHunks() {
        file("a.txt", OLD)
        core.hunks[Pair(1L, path("a.txt"))] = mapOf(FIRST to "one\ntwo\nTHREE\n", SECOND to "ONE\ntwo\nthree\n")
        core.hunks[Pair(1L, path("new.txt"))] = mapOf(Hunk(1, 1, listOf("+new\n"), "@@ -0,0 +1,1 @@") to "")
        changed(1, Edit("a.txt", OLD, NEW), Edit("new.txt", null, "new\n"))
    }

    private fun show() {
        PromptDiffs.getInstance(project).show(service.prompts.first())
        await("the tab") { files.openFiles.any { it is PromptDiffFile } }
    }

    private fun event(action: AnAction): AnActionEvent =
        action.eventOn(CommonDataKeys.EDITOR to tab.editor, CommonDataKeys.PROJECT to project)

    /** Performs an action in the line with this text. */
    private fun invoke(action: AnAction, line: String) {
        val number = file.document.text.lines().indexOf(line)
        tab.editor.caretModel.moveToLogicalPosition(LogicalPosition(number, 0))
        val event = event(action)
        assertTrue("it is enabled", event.presentation.isEnabled)
        action.actionPerformed(event)
    }

    fun testAllChangesAreInOneText() {
        twoHunks()
        show()
        val expected =
            """
            # prompt 1

            a.txt  +1 −1
            @@ -1,2 +1,2 @@
            -one
            +ONE
             two
            @@ -3,1 +3,1 @@
            -three
            +THREE

            new.txt  new  +1 −1
            @@ -0,0 +1,1 @@
            +new
            """.trimIndent()
        assertEquals(expected, text)
        assertTrue("the user can't type in it", tab.editor.isViewer)
        assertFalse("there is nothing to revert", event(REVERT).presentation.isEnabled)
    }

    fun testAStateThatIsPastIsNotRead() {
        val (reads, isRead) = Pair(AtomicInteger(), CountDownLatch(1))
        val slow = object : RecordingCore() {
            override fun <A> request(request: ServerMessage.Request<A>): A? {
                if (request is ServerMessage.ListHunks && reads.incrementAndGet() == 1) isRead.await()
                return super.request(request)
            }
        }
        for (count in 1L..20L) {
            val changed = (1..count).map { ChangedFile(path("$it.txt"), revertible = true) }
            service.changed(slow, CliChange("s", 1, "prompt 1", 1, changed))
            UIUtil.dispatchAllInvocationEvents()
            if (count > 1) continue
            PromptDiffs.getInstance(project).show(service.prompts.single())
            blockUntil(10, "the first state") { reads.get() == 1 }
        }
        isRead.countDown()
        await("the last state") { files.openFiles.isNotEmpty() && "20.txt" in text }
        assertEquals(1 + 20, reads.get())
    }

    fun testTheTabOpensWhileEachReadIsOvertakenByAnEdit() {
        val edits = AtomicInteger()
        val report = { core: RecordingCore ->
            val file = ChangedFile(path("a.txt"), added = edits.incrementAndGet(), removed = 0, revertible = true)
            service.changed(core, CliChange("s", 1, "prompt 1", 1, listOf(file)))
            file
        }
        val busy = object : RecordingCore() {
            override fun <A> request(request: ServerMessage.Request<A>): A? {
                if (request is ServerMessage.ListHunks) {
                    val next = report(this)
                    blockUntil(10, "the edit") { isClosed || service.prompts.single().files.single() == next }
                }
                return super.request(request)
            }
        }
        report(busy)
        UIUtil.dispatchAllInvocationEvents()
        try {
            PromptDiffs.getInstance(project).show(service.prompts.single())
            await("the tab") { files.openFiles.isNotEmpty() }
            val first = text
            await("a newer state") { text != first }
        } finally {
            busy.close()
        }
    }

    fun testAReadEndsWithItsTab() {
        val (reads, isClosed) = Pair(AtomicInteger(), CountDownLatch(1))
        val slow = object : RecordingCore() {
            override fun <A> request(request: ServerMessage.Request<A>): A? {
                if (request is ServerMessage.ListHunks && reads.incrementAndGet() == 1) isClosed.await()
                return super.request(request)
            }
        }
        service.changed(slow, CliChange("s", 1, "prompt 1", 1, listOf(ChangedFile(path("0.txt")))))
        UIUtil.dispatchAllInvocationEvents()
        show()
        val changed = (1..20).map { ChangedFile(path("$it.txt"), revertible = true) }
        service.changed(slow, CliChange("s", 1, "prompt 1", 1, changed))
        UIUtil.dispatchAllInvocationEvents()
        blockUntil(10, "the read") { reads.get() == 1 }
        files.closeFile(file)
        isClosed.countDown()
        changed(2, Edit("b.txt", null, "b"))
        show()
        assertEquals(1, reads.get())
    }

    fun testAPromptWhoseReadFailedIsNotOpenedByALaterChange() =
        loggedErrors { logged ->
            var fails = true
            val failing = object : RecordingCore() {
                override fun <A> request(request: ServerMessage.Request<A>): A? {
                    check(!fails) { "no answer" }
                    return super.request(request)
                }
            }
            val report = { added: Int ->
                val changed = ChangedFile(path("a.txt"), added = added, removed = 0, revertible = true)
                service.changed(failing, CliChange("s", 1, "prompt 1", 1, listOf(changed)))
                UIUtil.dispatchAllInvocationEvents()
            }
            report(1)
            PromptDiffs.getInstance(project).show(service.prompts.single())
            changed(2, Edit("b.txt", null, "b"))
            show()
            assertEquals("no answer", logged.single()?.message)
            fails = false
            report(2)
            changed(2, Edit("c.txt", null, "c"))
            await("the other prompt") { files.openFiles.any { "c.txt" in (it as PromptDiffFile).document.text } }
            assertEquals(listOf(2L), files.openFiles.map { (it as PromptDiffFile).key.number })
        }

    fun testTheTextHasLinesOfAllForms() {
        file("a.txt", "a")
        val lines = listOf("-\uFEFFone\r\n", "-two\rthree\n", "-end", "+\uFEFFONE\r\n", "+END\n")
        core.hunks[Pair(1L, path("a.txt"))] = mapOf(Hunk(1, 1, lines) to "")
        changed(1, Edit("a.txt", "a", "b"))
        show()
        val rows = text.lines().drop(4)
        assertEquals(listOf("-one", "-two", "-three", "-end", "\\ No newline at end of file", "+ONE", "+END"), rows)
    }

    fun testALongTextIsCutAndSaysWhatIsLeftOut() {
        file("a.txt", "a")
        val lines = List(PromptDiff.MAX_LINES) { "+line\n" }
        core.hunks[Pair(1L, path("a.txt"))] = mapOf(Hunk(1, 1, lines, "@@ -0,0 +1,100000 @@") to "")
        core.hunks[Pair(1L, path("b.txt"))] = mapOf(Hunk(1, 1, listOf("+b\n"), "@@ -0,0 +1,1 @@") to "")
        changed(1, Edit("a.txt", "a", "b"), Edit("b.txt", null, "b\n"))
        show()
        val rows = text.lines()
        assertEquals(PromptDiff.MAX_LINES, rows.indexOf("# 4 more lines in this file"))
        assertEquals(listOf("# 4 more lines in this file", "# One more file"), rows.takeLast(2))
    }

    fun testTheLastHunkIsKeptAndTheFilesOfACommandStay() {
        file("a.txt", OLD)
        file("made.txt", "")
        core.hunks[Pair(1L, path("a.txt"))] = mapOf(FIRST to "")
        changed(1, Edit("a.txt", OLD, NEW))
        service.command(core, CliCommand("s", 1, "prompt 1", 1_000, running = true))
        UIUtil.dispatchAllInvocationEvents()
        write("made.txt", "made")
        service.command(core, CliCommand("s", 1, "prompt 1", 1_000))
        await("the file of the command") { rows(1).size == 2 }
        show()
        invoke(KeepHunkAction(), "+ONE")
        service.changed(core, CliChange("s", 1, "prompt 1", 1_000))
        await("the rest") { text == "# prompt 1\n\nmade.txt  also changed" }
    }

    fun testIconsBesideTheHeaderKeepAndRevert() {
        twoHunks()
        show()
        val header = file.document.getLineStartOffset(file.document.text.lines().indexOf("@@ -3,1 +3,1 @@"))
        val markup = DocumentMarkupModel.forDocument(file.document, project, true)
        val marks = markup.allHighlighters.filter { it.startOffset == header }
        val icons = marks.mapNotNull { it.gutterIconRenderer }.associateBy { it.tooltipText }
        val names = setOf("Revert This CLI Change in File (Ctrl+Alt+Z)", "Keep This CLI Change in File (Ctrl+Enter)")
        assertEquals(names, icons.keys)
        val keep = checkNotNull(icons.getValue(names.last())).clickAction
        checkNotNull(keep).actionPerformed(event(keep))
        assertEquals(listOf("kept s 1 a.txt at 3"), calls)
    }

    fun testTheServersQuestionComesBeforeTheRevert() {
        twoHunks()
        show()
        core.warnings[path("a.txt")] = "a.txt has unsaved changes"
        invoke(REVERT, "+ONE")
        await("the question") { questions.isNotEmpty() }
        assertEquals("a.txt has unsaved changes", questions.single())
        assertEquals(NEW, onDisk("a.txt"))
        assertEquals(emptyList<String>(), calls)
        answering(2)
        invoke(REVERT, "+ONE")
        await("the report") { calls == listOf("reverted s 1 a.txt at 1") }
        assertEquals("one\ntwo\nTHREE\n", onDisk("a.txt"))
    }

    fun testARevertOfAPromptThatHasLeftTheListIsUndone() {
        twoHunks()
        show()
        invoke(REVERT, "+ONE")
        await("the report") { calls.size == 1 }
        service.changed(core, CliChange("s", 1))
        await("the end") { service.prompts.isEmpty() }
        UndoManager.getInstance(project).undo(tab)
        assertEquals("revertUndone s 1 a.txt at 1", calls.last())
    }

    fun testTheTabFollowsTheListAndKeepsItsUndo() {
        twoHunks()
        show()
        invoke(REVERT, "+THREE")
        await("the report") { calls.size == 1 }
        core.hunks[Pair(1L, path("a.txt"))] = mapOf(FIRST to OLD)
        val left = ChangedFile(path("a.txt"), ChangeKind.CHANGED, 1, 1, revertible = true)
        service.changed(core, CliChange("s", 1, "prompt 1", 1_000, listOf(left)))
        await("the update") { "THREE" !in text && "new.txt" !in text }
        assertTrue(text, text.endsWith("+ONE\n two"))
        assertTrue(UndoManager.getInstance(project).isUndoAvailable(tab))
        service.changed(core, CliChange("s", 1, "prompt 1", 1_000, listOf(left.copy(reverted = true))))
        await("the remark") { text.endsWith("a.txt  +1 −1  reverted") }
        service.changed(core, CliChange("s", 1, "prompt 1", 1_000, emptyList()))
        await("the end") { text.endsWith("# This prompt is no longer in the list of changes.") }
        UndoManager.getInstance(project).undo(tab)
        assertEquals(NEW, document("a.txt").text)
    }

    fun testTheCaretStaysOnItsChangeAndGoesToNoOther() {
        twoHunks()
        show()
        val caret = { checkNotNull(file.lineAt(tab.editor)) }
        val number = file.document.text.lines().indexOf("+THREE")
        tab.editor.caretModel.moveToLogicalPosition(LogicalPosition(number, 2))
        core.hunks[Pair(1L, path("0.txt"))] = mapOf(Hunk(1, 1, listOf("+0\n"), "@@ -0,0 +1,1 @@") to "")
        core.hunks[Pair(1L, path("a.txt"))] = mapOf(SECOND.copy(after = 2) to "")
        changed(1, Edit("0.txt", null, "0\n"), Edit("a.txt", OLD, NEW))
        await("the update") { "0.txt" in text }
        assertEquals("+THREE", caret().text)
        // The user keeps an earlier change of the file.
        core.hunks[Pair(1L, path("a.txt"))] = mapOf(SECOND.copy(before = 2, after = 2) to "")
        changed(1, Edit("a.txt", OLD, NEW))
        await("the update after that") { "0.txt" !in text }
        assertEquals("+THREE", caret().text)
        core.hunks[Pair(1L, path("a.txt"))] = mapOf(FIRST to "")
        changed(1, Edit("a.txt", OLD, NEW), Edit("new.txt", null, "new\n"))
        await("the next update") { "THREE" !in text }
        assertEquals(DiffLine.Kind.FILE, caret().kind)
        assertEquals(path("a.txt"), caret().row?.path)
        assertFalse("the next key reverts nothing", event(REVERT).presentation.isEnabled)
    }

    fun testAClosedTabHoldsNoTextAndShowsItAgainIfItIsReopened() {
        twoHunks()
        show()
        val (closed, shown) = Pair(file, text)
        awaitGone("the lines") {
            checkNotNull(closed.lineAt(tab.editor)).also {
                files.closeFile(closed)
                await("the end") { closed.document.textLength == 0 }
            }
        }
        service.changed(core, CliChange("s", 2, "prompt 2", 2_000, listOf(row(1, "a.txt").edit!!)))
        await("the second prompt") { service.prompts.size == 2 }
        UIUtil.dispatchAllInvocationEvents()
        assertEquals("it is not open", 0, closed.document.textLength)
        files.openFile(closed, true)
        await("the text") { text == shown }
    }

    fun testATabThatIsMovedKeepsItsText() {
        twoHunks()
        show()
        val (moved, shown) = Pair(file, text)
        files.closeFile(moved)
        files.openFile(moved, true)
        await("the text") { text == shown }
    }

    fun testTheTabOfAPromptOpensOnce() {
        twoHunks()
        // The second one comes while the changes are read for the first.
        PromptDiffs.getInstance(project).show(service.prompts.first())
        show()
        UIUtil.dispatchAllInvocationEvents()
        val first = file
        show()
        UIUtil.dispatchAllInvocationEvents()
        assertSame(first, file)
    }

    fun testTheKeyLeadsToTheLineWhereverItIs() {
        twoHunks()
        type("a.txt", "mine\nmine\n$NEW")
        show()
        invoke(GoToChangedLineAction(), "+THREE")
        val editor = checkNotNull(files.selectedTextEditor)
        assertEquals(document("a.txt"), editor.document)
        assertEquals(4, editor.caretModel.logicalPosition.line)
        type("a.txt", NEW)
    }

    fun testALongTitleIsCutInTheTab() {
        val key = PromptKey("s", 1)
        assertEquals("a".repeat(29) + "\u2026", PromptDiffFile(project, key, "a".repeat(100)).tabTitle)
        assertEquals("short", PromptDiffFile(project, key, "short").tabTitle)
        val emoji = "\uD83D\uDE80"
        assertEquals("a".repeat(28) + "\u2026", PromptDiffFile(project, key, "a".repeat(28) + emoji).tabTitle)
        val file = PromptDiffFile(project, key, "secret")
        assertFalse("the platform logs names of files", "secret" in file.path + file.toString())
    }

    private companion object {
        val REVERT = RevertHunkAction()
        const val OLD = "one\ntwo\nthree\n"
        const val NEW = "ONE\ntwo\nTHREE\n"
        val FIRST = Hunk(1, 1, listOf("-one\n", "+ONE\n", " two\n"), "@@ -1,2 +1,2 @@")
        val SECOND = Hunk(3, 3, listOf("-three\n", "+THREE\n"), "@@ -3,1 +3,1 @@")
    }
}
