// Owns the tests of the terminal of 2025.3 and newer, with stand-ins for its API.

package dev.companion.gemini.terminal

import com.intellij.terminal.frontend.toolwindow.TerminalToolWindowTabsManager
import com.intellij.testFramework.PlatformTestCase
import org.jetbrains.plugins.terminal.TerminalEngine
import org.jetbrains.plugins.terminal.TerminalOptionsProvider

class ReworkedTerminalTest : PlatformTestCase() {
    private val calls get() = TerminalToolWindowTabsManager.calls

    override fun tearDown() {
        TerminalOptionsProvider.engine = TerminalEngine.REWORKED
        calls.clear()
        super.tearDown()
    }

    fun testTheCLIRunsInATabOfItsOwn() {
        assertTrue(ReworkedTerminal.run(project, "Gemini CLI", "gemini --yolo"))
        val expected = listOf(project.name, "in ${project.basePath}", "tab Gemini CLI", "execute", "gemini --yolo")
        assertEquals(expected, calls)
    }

    fun testWhoHasAnotherTerminalKeepsIt() {
        for (engine in listOf(TerminalEngine.CLASSIC, TerminalEngine.NEW_TERMINAL)) {
            TerminalOptionsProvider.engine = engine
            assertFalse(ReworkedTerminal.run(project, "Gemini CLI", "gemini"))
        }
        assertEquals(emptyList<String>(), calls)
    }
}
