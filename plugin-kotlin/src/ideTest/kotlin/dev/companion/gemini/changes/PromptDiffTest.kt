// Tests the tab with all changes of a prompt: its text, its reverts, and the way to the files.

package dev.companion.gemini.changes

import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.command.undo.UndoManager
import com.intellij.openapi.components.impl.ComponentManagerImpl
import com.intellij.openapi.editor.LogicalPosition
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.ex.FileEditorProviderManager
import com.intellij.openapi.fileEditor.impl.FileEditorManagerImpl
import com.intellij.openapi.fileEditor.impl.FileEditorProviderManagerImpl
import com.intellij.ui.docking.DockManager
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.core.AgentChange
import dev.companion.gemini.core.ChangeKind
import dev.companion.gemini.core.ChangedFile
import dev.companion.gemini.core.Hunk
import dev.companion.gemini.target.ShownPath
import java.io.File

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

    private fun hunk(at: Int, vararg lines: String) = Hunk(at, at, lines.map { "$it\n" })

    /** Two changes of a.txt, and a new file. */
    private fun twoHunks() {
        file("a.txt", OLD)
        core.hunks[Pair(1L, path("a.txt"))] = mapOf(FIRST to "one\ntwo\nTHREE\n", SECOND to "ONE\ntwo\nthree\n")
        core.hunks[Pair(1L, path("new.txt"))] = mapOf(hunk(1, "+new") to "")
        changed(1, Edit("a.txt", OLD, NEW), Edit("new.txt", null, "new\n"))
    }

    private fun show() {
        PromptDiffs.getInstance(project).show(service.prompts.first())
        await("the tab") { files.openFiles.any { it is PromptDiffFile } }
    }

    private fun event(action: AnAction): AnActionEvent {
        val values = mapOf(CommonDataKeys.EDITOR.name to tab.editor, CommonDataKeys.PROJECT.name to project)
        return AnActionEvent.createFromAnAction(action, null, "", values::get).also(action::update)
    }

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
            @@ -1,0 +1,1 @@
            +new
            """.trimIndent()
        assertEquals(expected, text)
        assertTrue("the user can't type in it", tab.editor.isViewer)
        assertFalse("there is nothing to revert", event(REVERT).presentation.isEnabled)
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

    fun testAHunkIsRevertedReportedAndUndoneInTheTab() {
        twoHunks()
        show()
        invoke(REVERT, "+THREE")
        await("the report") { told == listOf("reverted s 1 a.txt at 3") }
        assertEquals("ONE\ntwo\nthree\n", onDisk("a.txt"))
        assertEquals(SECOND, core.planned.single().hunk)
        assertEquals(emptyList<String>(), questions)
        UndoManager.getInstance(project).undo(tab)
        UIUtil.dispatchAllInvocationEvents()
        assertEquals(NEW, document("a.txt").text)
        assertEquals(listOf("reverted s 1 a.txt at 3", "undone s 1 a.txt at 3"), told)
        UndoManager.getInstance(project).redo(tab)
        assertEquals("ONE\ntwo\nthree\n", document("a.txt").text)
        assertEquals("reverted s 1 a.txt at 3", told.last())
    }

    fun testTheServersQuestionComesBeforeTheRevert() {
        twoHunks()
        show()
        core.warnings[path("a.txt")] = "a.txt has unsaved changes"
        invoke(REVERT, "+ONE")
        await("the question") { questions.isNotEmpty() }
        assertEquals("a.txt has unsaved changes", questions.single())
        assertEquals(NEW, onDisk("a.txt"))
        assertEquals(emptyList<String>(), told)
        answering(2)
        invoke(REVERT, "+ONE")
        await("the report") { told == listOf("reverted s 1 a.txt at 1") }
        assertEquals("one\ntwo\nTHREE\n", onDisk("a.txt"))
    }

    fun testTheTabFollowsTheListAndKeepsItsUndo() {
        twoHunks()
        show()
        invoke(REVERT, "+THREE")
        await("the report") { told.size == 1 }
        core.hunks[Pair(1L, path("a.txt"))] = mapOf(FIRST to OLD)
        val left = ChangedFile(path("a.txt"), ChangeKind.CHANGED, 1, 1, revertible = true)
        service.changed(core, AgentChange("s", 1, "prompt 1", 1_000, listOf(left)))
        await("the update") { "THREE" !in text && "new.txt" !in text }
        assertTrue(text, text.endsWith("+ONE\n two"))
        assertTrue(UndoManager.getInstance(project).isUndoAvailable(tab))
        service.changed(core, AgentChange("s", 1, "prompt 1", 1_000, listOf(left.copy(reverted = true))))
        await("the remark") { text.endsWith("a.txt  +1 −1  reverted") }
        service.changed(core, AgentChange("s", 1, "prompt 1", 1_000, emptyList()))
        await("the end") { text.endsWith("# No change is left") }
        UndoManager.getInstance(project).undo(tab)
        assertEquals(NEW, document("a.txt").text)
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
        val file = PromptDiffFile(project, key, "secret")
        assertFalse("the platform logs names of files", "secret" in file.path + file.toString())
    }

    private companion object {
        val REVERT = RevertHunkAction()
        const val OLD = "one\ntwo\nthree\n"
        const val NEW = "ONE\ntwo\nTHREE\n"
        val FIRST = Hunk(1, 1, listOf("-one\n", "+ONE\n", " two\n"))
        val SECOND = Hunk(3, 3, listOf("-three\n", "+THREE\n"))
    }
}
