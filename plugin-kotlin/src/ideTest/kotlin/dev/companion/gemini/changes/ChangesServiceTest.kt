// Tests the list in the IDE: reloaded files, commands, kept files and the tool window.

package dev.companion.gemini.changes

import com.intellij.ide.TreeExpander
import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.actionSystem.DataContext
import com.intellij.openapi.actionSystem.PlatformDataKeys
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.ide.CopyPasteManager
import com.intellij.openapi.util.Disposer
import com.intellij.util.text.DateFormatUtil
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.core.ChangeKind
import dev.companion.gemini.core.ChangedFile
import dev.companion.gemini.core.CliChange
import dev.companion.gemini.core.CliCommand
import dev.companion.gemini.target.ShownPath
import java.awt.datatransfer.DataFlavor
import java.io.File
import javax.swing.tree.DefaultMutableTreeNode
import javax.swing.tree.TreePath

class ChangesServiceTest : ChangesTestCase() {
    private val counts = ArrayList<Int>()

    override fun setUp() {
        super.setUp()
        project.messageBus
            .connect(
                testRootDisposable,
            ).subscribe(ChangesListener.TOPIC, ChangesListener { counts += service.fileCount })
    }

    private fun panel() = ChangesPanel(project).also { Disposer.register(testRootDisposable, it) }

    /** Returns the rows of the tree as the user reads them. */
    private fun rendered(panel: ChangesPanel): List<String> =
        (0 until panel.tree.rowCount).map { row ->
            val node = panel.tree.getPathForRow(row).lastPathComponent
            val renderer = panel.tree.cellRenderer
            "${renderer.getTreeCellRendererComponent(panel.tree, node, false, true, true, row, false)}"
        }

    /** Returns the rows without the times of prompts, and with a short name of the root. */
    private fun shown(panel: ChangesPanel): List<String> =
        rendered(panel).map { text ->
            val short = text.replace(ShownPath.of(project, root.toPath()), "ROOT")
            short.replace(Regex(" {2}\\S+ \\d+:\\d\\d\\s[AP]M"), "")
        }

    private fun select(panel: ChangesPanel, vararg names: String) {
        val root = panel.tree.model.root as DefaultMutableTreeNode
        val nodes = root.depthFirstEnumeration().toList().filterIsInstance<DefaultMutableTreeNode>()
        val paths = nodes.filter { it.toString() in names }.map { TreePath(it.path) }
        panel.tree.selectionPaths = paths.toTypedArray()
    }

    /** Performs an action as the user does in the tool window. Returns whether it was enabled. */
    private fun perform(panel: ChangesPanel, id: String): Boolean {
        val action = ActionManager.getInstance().getAction(id)
        val context = DataContext { name -> if (name == CommonDataKeys.PROJECT.name) project else panel.getData(name) }
        val event = AnActionEvent.createFromAnAction(action, null, "Companion.Changes", context)
        action.update(event)
        if (!event.presentation.isEnabled) return false
        action.actionPerformed(event)
        UIUtil.dispatchAllInvocationEvents()
        return true
    }

    fun testUnsavedTextIsNeitherOverwrittenNorAskedAbout() {
        file("a.txt", "one")
        type("a.txt", "mine")
        val document = document("a.txt")
        write("a.txt", "two")
        service.changed(core, CliChange("s", 1, "p", 1, listOf(ChangedFile(path("a.txt")))))
        file("b.txt", "old")
        changed(2, Edit("b.txt", "old", "newer"))
        assertEquals("mine", document.text)
        assertTrue(FileDocumentManager.getInstance().isFileModified(virtualFile("a.txt")))
        assertEquals(emptyList<String>(), questions)
        FileDocumentManager.getInstance().reloadFromDisk(document)
    }

    fun testTheFilesOfACommandAreListed() {
        file("changed.txt", "one")
        file("deleted.txt", "one")
        file("older.txt", "one")
        file("edited.txt", "one")
        service.command(core, CliCommand("s", 1, "run it", 1, running = true))
        UIUtil.dispatchAllInvocationEvents()
        write("changed.txt", "one and two")
        write("made/new.txt", "new")
        write("deleted.txt", null)
        File(root, "older.txt").setLastModified(1_000)
        changed(1, Edit("edited.txt", "one", "two"))
        type("changed.txt", "one")
        FileDocumentManager.getInstance().reloadFromDisk(document("changed.txt"))
        service.command(core, CliCommand("s", 1, "run it", 1))
        await("the files") { service.prompts.single().rows.size > 1 }
        val rows = service.prompts.single().rows.map { row ->
            val name = File(row.path).relativeTo(root).path
            "$name ${row.kind} ${row.edit != null}"
        }
        val expected = listOf("changed.txt CHANGED false", "deleted.txt DELETED false", "edited.txt CHANGED true")
        assertEquals(expected + "made/new.txt CREATED false", rows.filterNot { it.startsWith("older") })
        write("later.txt", "new")
        virtualFile("later.txt")
        assertFalse("it is over", service.prompts.single().rows.any { it.path == path("later.txt") })
    }

    fun testAPromptOfCommandsAloneHasItsTitle() {
        file("changed.txt", "one")
        service.command(core, CliCommand("s", 1, "run it", 1, running = true))
        UIUtil.dispatchAllInvocationEvents()
        write("changed.txt", "one and two")
        service.command(core, CliCommand("s", 1, "run it", 1))
        await("the file") { service.prompts.isNotEmpty() }
        assertEquals("run it", service.prompts.single().title)
    }

    fun testKeptFilesLeaveTheList() {
        file("a.txt", "one")
        changed(1, Edit("a.txt", "one", "two"), Edit("b.txt", null, "two"))
        assertEquals(2, counts.last())
        val panel = panel()
        assertFalse("nothing is selected", perform(panel, "Companion.KeepChange"))
        select(panel, "a.txt")
        assertTrue(perform(panel, "Companion.KeepChange"))
        assertEquals(listOf("kept s 1 a.txt"), calls)
        assertEquals(1, counts.last())
        select(panel, "prompt 1")
        assertTrue(perform(panel, "Companion.KeepChange"))
        assertEquals(listOf("kept s 1 a.txt", "kept s 1 b.txt"), calls)
        assertEquals(0, counts.last())
        assertEquals("two", onDisk("a.txt"))
    }

    fun testTheTreeShowsPromptsAndFiles() {
        file("a.txt", "one")
        file("c.txt", "one")
        changed(1, Edit("a.txt", "one", "two"), Edit("sub/b.txt", null, "two"), Edit("c.txt", "one", null))
        val private = ChangedFile(path("key.txt"), isPrivate = true)
        val reverted = ChangedFile(path("r.txt"), added = 2, removed = 0, revertible = true, reverted = true)
        service.changed(core, CliChange("s", 2, "", 2_000, listOf(private, reverted)))
        UIUtil.dispatchAllInvocationEvents()
        val panel = panel()
        val expected = listOf(
            "(untitled prompt)  2 files",
            "key.txt  ROOT  private",
            "r.txt  ROOT  +2 \u22120  reverted",
            "prompt 1  3 files",
            "a.txt  ROOT  +1 \u22121",
            "c.txt  deleted  ROOT  +1 \u22121",
            "b.txt  new  ROOT/sub  +1 \u22121",
        )
        assertEquals(expected, shown(panel))
        select(panel, "key.txt", "r.txt")
        assertFalse(perform(panel, "Companion.RevertFile"))
        assertFalse(perform(panel, "Companion.RevertPrompt"))
        select(panel, "a.txt")
        assertTrue(perform(panel, "Companion.RevertPrompt"))
        await("all") { core.calls.isNotEmpty() }
        assertEquals(listOf("reverted s 1 a.txt c.txt sub/b.txt"), calls)
    }

    fun testManyFilesAreGroupedByFolder() {
        val files = (1..31).map { ChangedFile(path("${if (it < 31) "a" else "b"}/$it.txt"), revertible = true) }
        service.changed(core, CliChange("s", 1, "many", 1, files))
        UIUtil.dispatchAllInvocationEvents()
        val panel = panel()
        assertEquals(listOf("many  31 files", "ROOT/a  30 files", "ROOT/b  1 file"), shown(panel))
        select(panel, panel.tree.getPathForRow(2).lastPathComponent.toString())
        assertEquals(listOf(path("b/31.txt")), panel.tree.selectedFiles.map { it.path })
        panel.tree.expandRow(1)
        changed(2, Edit("b.txt", null, "two"))
        assertEquals("an open folder stays open", 2 + 1 + 30 + 2, panel.tree.rowCount)
        assertEquals(listOf(path("b/31.txt")), panel.tree.selectedFiles.map { it.path })
    }

    fun testAnOlderPromptHasItsDay() {
        val now = System.currentTimeMillis()
        val days = mapOf(
            0 to "Moments ago",
            1 to "Yesterday " + DateFormatUtil.formatTime(now - DAY_MILLIS),
            9 to DateFormatUtil.formatDateTime(now - 9 * DAY_MILLIS),
        )
        for (age in days.keys) {
            val file = ChangedFile(path("$age.txt"), revertible = true)
            service.changed(core, CliChange("s", 9L - age, "prompt", now - age * DAY_MILLIS, listOf(file)))
        }
        UIUtil.dispatchAllInvocationEvents()
        val expected = days.values.map { "prompt  $it  1 file" }
        assertEquals(expected, rendered(panel()).filter { it.startsWith("prompt") })
    }

    fun testPathsAreCopied() {
        file("a.txt", "one")
        changed(1, Edit("a.txt", "one", "two"), Edit("b.txt", null, "two"))
        val panel = panel()
        select(panel, "a.txt", "b.txt")
        assertTrue(perform(panel, "Companion.CopyChangedPath"))
        val copied = CopyPasteManager.getInstance().getContents<String>(DataFlavor.stringFlavor)
        assertEquals("${path("a.txt")}\n${path("b.txt")}", copied)
    }

    fun testThePlatformOpensAndClosesAllGroups() {
        changed(1, Edit("a.txt", null, "two"))
        changed(2, Edit("b.txt", null, "two"))
        val panel = panel()
        val expander = panel.getData(PlatformDataKeys.TREE_EXPANDER.name) as TreeExpander
        expander.collapseAll()
        assertEquals(2, panel.tree.rowCount)
        expander.expandAll()
        assertEquals(4, panel.tree.rowCount)
    }

    fun testTheTreeKeepsSelectionAndClosedGroups() {
        file("a.txt", "one")
        changed(1, Edit("a.txt", "one", "two"))
        val panel = panel()
        select(panel, "a.txt")
        changed(2, Edit("b.txt", null, "two"))
        assertEquals(listOf(path("a.txt")), panel.tree.selectedFiles.map { it.path })
        panel.tree.collapseRow(2)
        changed(2, Edit("b.txt", null, "two"), Edit("c.txt", null, "two"))
        assertEquals("two groups, and two files of the second", 4, panel.tree.rowCount)
        assertFalse(panel.tree.isExpanded(3))
    }

    fun testAFileIsOpenedAndADeletedOneHasTheHistoryOfItsFolder() {
        file("a.txt", "one")
        file("sub/gone.txt", "one")
        changed(1, Edit("a.txt", "one", "two"), Edit("sub/gone.txt", "one", null))
        val panel = panel()
        select(panel, "a.txt")
        await("the file") { panel.getData(CommonDataKeys.VIRTUAL_FILE.name) == virtualFile("a.txt") }
        assertTrue(perform(panel, "Companion.OpenChangedFile"))
        select(panel, "gone.txt")
        assertEquals(virtualFile("sub"), panel.getData(CommonDataKeys.VIRTUAL_FILE.name))
        assertFalse(perform(panel, "Companion.OpenChangedFile"))
    }

    fun testTheListEndsWithItsServer() {
        file("a.txt", "one")
        changed(1, Edit("a.txt", "one", "two"))
        val other = RecordingCore()
        service.changed(other, CliChange("t", 1, "p", 1, listOf(ChangedFile(path("b.txt"), ChangeKind.CREATED))))
        UIUtil.dispatchAllInvocationEvents()
        assertEquals(2, service.prompts.size)
        core.close()
        service.forgetClosed()
        assertEquals(listOf("t"), service.prompts.map { it.key.session })
        other.close()
        service.forgetClosed()
        assertEquals(0, service.fileCount)
    }

    private companion object {
        const val DAY_MILLIS = 24 * 3_600_000L
    }
}
