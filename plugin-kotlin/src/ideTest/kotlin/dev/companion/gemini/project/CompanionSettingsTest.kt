// Tests the values of settings, and settings files with wrong values.

package dev.companion.gemini.project

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.util.JDOMUtil
import com.intellij.testFramework.LightPlatformTestCase
import com.intellij.util.xmlb.XmlSerializer
import dev.companion.gemini.core.LogLevel

class CompanionSettingsTest : LightPlatformTestCase() {
    private val settings = CompanionSettings()

    fun testAllIsKept() {
        val values = CompanionSettings.Values(
            context = false,
            review = false,
            diagnostics = false,
            gemini = false,
            trust = TrustSetting.CLI,
            bodyLimitMegabytes = 7,
            logLevel = LogLevel.TRACE,
            cliCommand = "npx gemini",
            listenAddresses = "10.0.0.1",
            allowedHosts = "a",
        )
        val kept = XmlSerializer.serialize(values)
        settings.loadState(XmlSerializer.deserialize(kept, CompanionSettings.Values::class.java))
        assertEquals(values, settings.state)
    }

    fun testAFileOfAnotherVersionMayLackAndHaveMore() {
        val element = JDOMUtil.load("<c><option name='review' value='false'/><option name='other' value='1'/></c>")
        settings.loadState(XmlSerializer.deserialize(element, CompanionSettings.Values::class.java))
        assertEquals(CompanionSettings.Values(review = false), settings.state)
    }

    fun testAFileThatWasEditedByHandCanDoNoHarm() {
        val wrong =
            CompanionSettings.Values(gemini = false, qwen = false, bodyLimitMegabytes = 0, cliCommand = " ")
        settings.loadState(wrong)
        assertEquals(CompanionSettings.Values(qwen = false, bodyLimitMegabytes = 1), settings.state)
        settings.loadState(CompanionSettings.Values(bodyLimitMegabytes = Int.MAX_VALUE))
        assertEquals(1024, settings.state.bodyLimitMegabytes)
    }

    fun testEveryListenerIsNotifiedOfAChangeAndOnlyOfThat() {
        var notifications = 0
        val connection = ApplicationManager.getApplication().messageBus.connect(testRootDisposable)
        connection.subscribe(CompanionSettings.TOPIC, CompanionSettings.Listener { notifications++ })
        settings.set(CompanionSettings.Values())
        assertEquals(0, notifications)
        settings.set(CompanionSettings.Values(context = false))
        assertEquals(1, notifications)
    }

    fun testListsMayBeWrittenInAnyWay() {
        assertEquals(listOf("a", "b", "c:1", "d"), CompanionSettings.words(" a, b;c:1\n\td,a, "))
        assertEquals(emptyList<String>(), CompanionSettings.words(" , "))
    }

    fun testNobodyChangesTheValuesInUse() {
        val mine = CompanionSettings.Values(context = false)
        settings.set(mine)
        mine.context = true
        assertFalse(settings.values.context)
    }
}
