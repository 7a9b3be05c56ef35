// Tests the actions on the CLI in the terminal.

package dev.companion.gemini.ui

import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.extensions.Extensions
import com.intellij.openapi.ide.CopyPasteManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.vfs.VfsUtil
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.wm.ToolWindowAnchor
import com.intellij.openapi.wm.ToolWindowManager
import com.intellij.testFramework.LightVirtualFile
import com.intellij.ui.content.ContentFactory
import dev.companion.gemini.eventOn
import dev.companion.gemini.platform.later
import dev.companion.gemini.project.ServiceTestCase
import dev.companion.gemini.shownNotifications
import dev.companion.gemini.terminal.CliTabs
import dev.companion.gemini.terminal.CliTerminal
import dev.companion.gemini.terminal.TabProgram
import java.awt.datatransfer.DataFlavor
import java.awt.datatransfer.StringSelection
import java.io.File
import java.util.concurrent.CountDownLatch
import javax.swing.JPanel

class CliActionsTest : ServiceTestCase() {
    private val did = ArrayList<String>()
    private var outcome: () -> String? = { null }

    private val terminal = object : CliTerminal {
        override fun run(project: Project, command: String): String? {
            did += "run $command"
            return outcome()
        }
    }

    private fun action(id: String): AnAction = ActionManager.getInstance().getAction("Companion.$id")

    private fun event(id: String, files: List<VirtualFile> = emptyList()) =
        action(id).eventOn(
            CommonDataKeys.PROJECT to project,
            CommonDataKeys.VIRTUAL_FILE_ARRAY to files.toTypedArray(),
        )

    private fun isVisible(id: String, vararg files: VirtualFile) =
        event(id, files.asList()).presentation.isEnabledAndVisible

    private fun add(vararg files: VirtualFile) =
        action("AddToPrompt").actionPerformed(event("AddToPrompt", files.asList()))

    private fun withTerminal() {
        val point = Extensions.getRootArea().getExtensionPoint<CliTerminal>("dev.companion.gemini.cliTerminal")
        point.registerExtension(terminal)
        Disposer.register(testRootDisposable) { point.unregisterExtension(terminal) }
    }

    /** Opens a terminal with a CLI behind another one. Returns whether the CLI's terminal shows. */
    private fun withRunningCli(): () -> Boolean {
        withTerminal()
        val windows = ToolWindowManager.getInstance(project)
        val contents = windows.registerToolWindow("Terminal", false, ToolWindowAnchor.BOTTOM).contentManager
        val (cli, other) = List(2) { ContentFactory.SERVICE.getInstance().createContent(JPanel(), "a terminal", false) }
        listOf(cli, other).forEach(contents::addContent)
        contents.setSelectedContent(other)
        val program = object : TabProgram {
            override val terminal get() = this

            override fun askWhetherItRuns(then: (Boolean) -> Unit) = then(true)

            override fun send(text: String) {
                did += text
            }
        }
        CliTabs.remember(project, cli, program)
        return { contents.selectedContent === cli }
    }

    private fun file(name: String, text: String = ""): VirtualFile {
        val file = File(checkNotNull(project.basePath), name)
        file.parentFile.mkdirs()
        file.writeText(text)
        return checkNotNull(VfsUtil.findFileByIoFile(file, true))
    }

    fun testTheCLIRunsOnlyWhereThereIsATerminal() {
        assertFalse(isVisible("RunCli"))
        withTerminal()
        assertTrue(isVisible("RunCli"))
        set { cliCommand = "npx gemini" }
        action("RunCli").actionPerformed(event("RunCli"))
        await { did == listOf("run npx gemini") }
    }

    fun testWhatTheTerminalRemarksAndWhatItLacksIsSaid() {
        withTerminal()
        set { cliCommand = "npx gemini" }
        val shown = shownNotifications(project, testRootDisposable)
        outcome = { "in a classic terminal" }
        action("RunCli").actionPerformed(event("RunCli"))
        await { shown.map { it.content } == listOf("in a classic terminal") }
        outcome = { throw NoSuchMethodError("TerminalWidget.sendCommandToExecute") }
        val thrown = runCatching {
            action("RunCli").actionPerformed(event("RunCli"))
            await { did.size == 2 }
        }.exceptionOrNull()
        assertTrue("the IDE reports it, too: $thrown", generateSequence(thrown) { it.cause }.any { it is LinkageError })
        assertTrue("$shown", "lacks TerminalWidget.sendCommandToExecute." in shown.last().content)
    }

    fun testTheKeyThatIsPressedTwiceRunsOneCLI() {
        withTerminal()
        set { cliCommand = "npx gemini" }
        repeat(2) { action("RunCli").actionPerformed(event("RunCli")) }
        await { did.isNotEmpty() }
        val isOver = CountDownLatch(1)
        ApplicationManager.getApplication().executeOnPooledThread { project.later(isOver::countDown) }
        await { isOver.count == 0L }
        assertEquals(listOf("run npx gemini"), did)
    }

    fun testOneComesBackToACLIThatRuns() {
        val shows = withRunningCli()
        action("RunCli").actionPerformed(event("RunCli"))
        await { shows() }
        assertEquals(emptyList<String>(), did)
    }

    fun testOnlyWhatACLIFindsCanBeAdded() {
        assertFalse(isVisible("AddToPrompt"))
        assertFalse(isVisible("AddToPrompt", LightVirtualFile("a.txt")))
        assertTrue(isVisible("AddToPrompt", file("a.txt")))
    }

    fun testTheFileIsPastedIntoThePromptOfTheCLIThatRuns() {
        val shows = withRunningCli()
        add(file("with blank/a.txt"))
        await { did == listOf("\u001b[200~ @with\\ blank/a.txt \u001b[201~") }
        assertTrue(shows())
    }

    fun testSeveralFilesAndAFolderAreAddedAtOnce() {
        withRunningCli()
        val file = file("folder/a.txt")
        add(file, file.parent)
        await { did == listOf("\u001b[200~ @folder/a.txt @folder/ \u001b[201~") }
    }

    fun testWhereNoCLIRunsTheTextIsOnTheClipboard() {
        val shown = shownNotifications(project, testRootDisposable)
        for (hasTerminal in listOf(false, true)) {
            if (hasTerminal) withTerminal()
            CopyPasteManager.getInstance().setContents(StringSelection(""))
            add(file("a.txt"))
            await { CopyPasteManager.getInstance().getContents<String>(DataFlavor.stringFlavor) == " @a.txt " }
        }
        assertEquals(emptyList<String>(), did)
        assertTrue("$shown", shown.size == 2 && shown.all { it.content.startsWith("Copied @a.txt.") })
    }
}
