// Tests the terminal of 2025.3 and newer, with stand-ins for its API.

package dev.companion.gemini.terminal

import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.wm.ToolWindowAnchor
import com.intellij.openapi.wm.ToolWindowManager
import com.intellij.terminal.frontend.editor.NewerTerminalViewVirtualFile
import com.intellij.terminal.frontend.editor.TerminalSessionVirtualFileImpl
import com.intellij.terminal.frontend.editor.TerminalViewVirtualFile
import com.intellij.terminal.frontend.toolwindow.TerminalToolWindowTabsManager
import com.intellij.testFramework.PlatformTestCase
import com.intellij.ui.content.ContentManager
import dev.companion.gemini.dispatchUntil
import dev.companion.gemini.terminal.ReworkedTerminal.Outcome
import org.jetbrains.plugins.terminal.TerminalEngine
import org.jetbrains.plugins.terminal.TerminalOptionsProvider
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import javax.swing.JPanel

class ReworkedTerminalTest : PlatformTestCase() {
    private val calls get() = TerminalToolWindowTabsManager.calls
    private lateinit var contents: ContentManager

    @Suppress("DEPRECATION") // its replacement is newer than 2018.3
    override fun setUp() {
        super.setUp()
        val windows = ToolWindowManager.getInstance(project)
        contents = windows.registerToolWindow("Terminal", JPanel(), ToolWindowAnchor.BOTTOM).contentManager
    }

    override fun tearDown() {
        TerminalOptionsProvider.engine = TerminalEngine.REWORKED
        TerminalToolWindowTabsManager.runs = { true }
        TerminalToolWindowTabsManager.lacks = null
        TerminalToolWindowTabsManager.last = null
        calls.clear()
        super.tearDown()
    }

    private fun runCli() = ReworkedTerminal.run(project, "Gemini CLI", "gemini --yolo")

    private fun running(orStarts: Boolean = false, now: Long = System.nanoTime()): CliTab? {
        val found = ArrayList<CliTab?>()
        CliTabs.findRunning(project, orStarts, now, found::add)
        dispatchUntil(20, "an answer of the terminal") { found.isNotEmpty() }
        return found.single()
    }

    fun testTheCLIRunsInATabOfItsOwn() {
        assertEquals(Outcome.RUNS, runCli())
        val expected = listOf(project.name, "in ${project.basePath}", "tab Gemini CLI", "execute", "gemini --yolo")
        assertEquals(expected, calls)
    }

    fun testWhoHasAnotherTerminalKeepsIt() {
        for (engine in listOf(TerminalEngine.CLASSIC, TerminalEngine.NEW_TERMINAL)) {
            TerminalOptionsProvider.engine = engine
            assertEquals(Outcome.UNWANTED, runCli())
        }
        assertEquals(emptyList<String>(), calls)
    }

    fun testWhereTheTerminalHasNoAPIItSaysSo() {
        TerminalToolWindowTabsManager.lacks = "createTabBuilder"
        assertEquals(Outcome.UNREACHABLE, runCli())
        assertEquals(emptyList<String>(), calls)
    }

    fun testWhateverFailsInATabNoOtherIsOpened() {
        TerminalToolWindowTabsManager.lacks = "createSendTextBuilder"
        val thrown = runCatching { runCli() }.exceptionOrNull()
        assertEquals("java.lang.NoSuchMethodError: createSendTextBuilder", "$thrown")
        assertEquals(1, contents.contentCount)
        assertNotNull("one comes back to it", running())
    }

    fun testOneComesBackToTheTabInWhichTheCLIRuns() {
        assertNull("there is none yet", running())
        runCli()
        val (first) = contents.contents
        runCli()
        contents.removeContent(contents.contents[1], true)
        calls.clear()
        val tab = checkNotNull(running())
        tab.show()
        assertSame(first, contents.selectedContent)
        tab.send("for its prompt")
        assertEquals("never with Enter", listOf("for its prompt"), calls)
    }

    fun testATabThatWasMovedAmongTheEditorsIsFound() {
        runCli()
        val content = contents.contents.single()
        val tab = checkNotNull(TerminalToolWindowTabsManager.last)
        contents.removeContent(content, false)
        val editors = FileEditorManager.getInstance(project)
        for (file in listOf(
            TerminalViewVirtualFile(tab.view),
            NewerTerminalViewVirtualFile(tab),
            TerminalSessionVirtualFileImpl(tab.view),
        )) {
            editors.openFile(file, false)
            assertNotNull(file.javaClass.simpleName, running())
            editors.closeFile(file)
        }
        assertNull("it is closed", running())
    }

    fun testATabWhoseCLIHasEndedIsLeftAlone() {
        runCli()
        TerminalToolWindowTabsManager.runs = { false }
        assertNull(running())
        TerminalToolWindowTabsManager.runs = { throw IllegalStateException("no session") }
        assertNull(running())
    }

    fun testATabWhoseCLIMayStillStartIsShownButGetsNoText() {
        runCli()
        TerminalToolWindowTabsManager.runs = { false }
        assertNotNull(running(orStarts = true))
        assertNull("a text would go to the shell", running(orStarts = false))
        assertNull("it has ended", running(orStarts = true, System.nanoTime() + TimeUnit.MINUTES.toNanos(1)))
    }

    fun testATabWhoseCLIHasEndedAtOnceIsLeftAlone() {
        runCli()
        assertNotNull("it runs", running(orStarts = true))
        TerminalToolWindowTabsManager.runs = { false }
        assertNull("it has ended", running(orStarts = true))
    }

    fun testATabThatIsOpenedWhileTheOldOneIsAskedIsFound() {
        runCli()
        assertNotNull("it runs", running(orStarts = true))
        val answers = CountDownLatch(1)
        TerminalToolWindowTabsManager.runs = {
            answers.await()
            false
        }
        val found = ArrayList<CliTab?>()
        CliTabs.findRunning(project, orStarts = true, then = found::add)
        runCli()
        answers.countDown()
        dispatchUntil(20, "an answer of the terminal") { found.isNotEmpty() }
        checkNotNull(found.single()).show()
        assertSame(contents.contents[1], contents.selectedContent)
    }

    fun testATabThatHasRunSinceTheOldOneIsAskedIsFound() {
        runCli()
        val (isAsked, answer) = Pair(CountDownLatch(1), CountDownLatch(1))
        TerminalToolWindowTabsManager.runs = {
            TerminalToolWindowTabsManager.runs = { true }
            isAsked.countDown()
            answer.await()
            false
        }
        val found = ArrayList<CliTab?>()
        CliTabs.findRunning(project, orStarts = false, then = found::add)
        dispatchUntil(20, "the question") { isAsked.count == 0L }
        runCli()
        assertNotNull("the next key finds the new one", running(orStarts = true))
        answer.countDown()
        dispatchUntil(20, "an answer of the terminal") { found.isNotEmpty() }
        checkNotNull(found.single()).show()
        assertSame(contents.contents[1], contents.selectedContent)
    }

    fun testTheTabsOfOthersAreNotOurs() {
        val manager = TerminalToolWindowTabsManager.getInstance(project)
        manager.createTabBuilder().createTab()
        assertEquals(1, contents.contentCount)
        assertNull(running())
    }
}
