// Owns the tests of what is said when a server can't be started.

package dev.companion.gemini.project

import com.intellij.testFramework.PlatformTestCase
import dev.companion.gemini.core.NativeLibraryException

class ServerLaunchTest : PlatformTestCase() {
    fun testWhatARestartOfTheIDERepairsAsksForOne() {
        val told = ServerLaunch.report(NativeLibraryException("It is loaded already.", restart = true))
        assertEquals("It is loaded already. Please restart the IDE.", told)
    }

    fun testALibraryThatIsMissingAsksForAnotherInstallation() {
        val told = ServerLaunch.report(NativeLibraryException("There is no library."))
        assertTrue(told, told.startsWith("There is no library. The plugin runs on Linux"))
        assertTrue(told, told.endsWith("please install the plugin again."))
    }
}
