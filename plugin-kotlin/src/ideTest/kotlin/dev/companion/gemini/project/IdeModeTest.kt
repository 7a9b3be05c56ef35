// Tests the modes of the IDE in which the plugin starts no server.

package dev.companion.gemini.project

import com.intellij.idea.AppMode
import com.intellij.openapi.wm.ex.WelcomeScreenProjectProvider
import dev.companion.gemini.RecordingCore

class IdeModeTest : ServiceTestCase() {
    private var launched = 0

    override fun tearDown() {
        AppMode.isRemoteDevHost = false
        WelcomeScreenProjectProvider.welcome = null
        super.tearDown()
    }

    private fun startAndRestart(): CompanionService {
        val service = serviceWith { _, _ -> RecordingCore().also { launched++ } }
        service.start()
        service.restart()
        return service
    }

    fun testTheWelcomeScreenHasNone() {
        WelcomeScreenProjectProvider.welcome = project
        val service = startAndRestart()
        assertEquals(CompanionState.WelcomeScreen, service.state)
        WelcomeScreenProjectProvider.welcome = null
        service.start()
        await { service.state is CompanionState.Running }
        assertEquals("none before", 1, launched)
    }

    fun testInRemoteDevelopmentThereIsNoneAndTheWidgetSaysSo() {
        AppMode.isRemoteDevHost = true
        val service = startAndRestart()
        set { bodyLimitMegabytes = 3 }
        assertEquals(CompanionState.Remote, service.state)
        AppMode.isRemoteDevHost = false
        service.start()
        await { service.state is CompanionState.Running }
        assertEquals("none before", 1, launched)
    }
}
