// Tests the messages about a server that cannot start.

package dev.companion.gemini.project

import com.intellij.testFramework.PlatformTestCase
import dev.companion.gemini.core.NativeLibraryException

class ServerLaunchTest : PlatformTestCase() {
    fun testWhatARestartOfTheIDERepairsAsksForOne() {
        val report = ServerLaunch.report(NativeLibraryException("It is loaded already.", restart = true))
        assertEquals("It is loaded already. Restart the IDE.", report)
    }

    fun testWhatCanBeExpectedIsNoErrorOfTheIDE() {
        // In the platform's tests, logging an error throws it.
        ServerLaunch.report(IllegalStateException("No space left on device"))
        assertThrows("panic") { ServerLaunch.report(RuntimeException("panic")) }
    }

    private fun assertThrows(message: String, run: () -> Unit) {
        val thrown = runCatching(run).exceptionOrNull()
        assertTrue("$thrown", generateSequence(thrown) { it.cause }.any { message in it.message.orEmpty() })
    }

    fun testALibraryThatIsMissingAsksForAnotherInstallation() {
        val report = ServerLaunch.report(NativeLibraryException("There is no library."))
        assertTrue(report, report.startsWith("There is no library. The plugin supports Linux"))
        assertTrue(report, report.endsWith("reinstall the plugin."))
    }
}
