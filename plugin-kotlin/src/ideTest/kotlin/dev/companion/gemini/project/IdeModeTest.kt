// Tests the modes of the IDE in which the plugin starts no server.

package dev.companion.gemini.project

import com.intellij.idea.AppMode
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.ex.ApplicationEx
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.wm.ex.WelcomeScreenProjectProvider
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.ui.CompanionStartupActivity
import java.lang.reflect.Proxy

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

    fun testAnIdeWithoutWindowsHasNone() {
        val service = serviceWith { _, _ -> RecordingCore().also { launched++ } }
        val application = ApplicationManager.getApplication()
        val type = arrayOf(ApplicationEx::class.java)
        val outsideOfTests = Proxy.newProxyInstance(javaClass.classLoader, type) { _, method, args ->
            if (method.name == "isUnitTestMode") false else method.invoke(application, *args.orEmpty())
        }
        val end = Disposer.newDisposable()
        ApplicationManager.setApplication(outsideOfTests as ApplicationEx, end)
        try {
            assertTrue(outsideOfTests.isHeadlessEnvironment)
            CompanionStartupActivity().runActivity(project)
        } finally {
            Disposer.dispose(end)
        }
        assertSame(application, ApplicationManager.getApplication())
        service.restart()
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
