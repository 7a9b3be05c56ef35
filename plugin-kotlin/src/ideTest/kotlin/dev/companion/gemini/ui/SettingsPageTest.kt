// Tests the settings page.

package dev.companion.gemini.ui

import com.intellij.openapi.options.Configurable
import com.intellij.openapi.options.ConfigurationException
import com.intellij.openapi.util.Disposer
import com.intellij.testFramework.LightPlatformTestCase
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.core.LogLevel
import dev.companion.gemini.project.CompanionSettings
import dev.companion.gemini.project.CompanionSettings.Values
import dev.companion.gemini.project.ProjectSetting
import dev.companion.gemini.project.TrustSetting
import javax.swing.JCheckBox
import javax.swing.JComboBox
import javax.swing.JComponent
import javax.swing.JLabel
import javax.swing.JTextField

class SettingsPageTest : LightPlatformTestCase() {
    private val settings get() = CompanionSettings.getInstance()
    private val configurable = CompanionConfigurable()
    private lateinit var page: JComponent

    override fun setUp() {
        super.setUp()
        page = configurable.createComponent()
        configurable.reset()
        Disposer.register(testRootDisposable) { configurable.disposeUIResources() }
    }

    override fun tearDown() {
        try {
            settings.set(Values())
        } finally {
            super.tearDown()
        }
    }

    fun testEachFieldCountsAndIsApplied() {
        val ofServer = listOf<Pair<Values, () -> Unit>>(
            Values(review = false) to { review.doClick() },
            Values(diagnostics = false) to { diagnostics.doClick() },
            Values(gitIgnoredPrivate = true) to { box("Don\u2019t share files that Git ignores").doClick() },
            Values(worktrees = false) to { box("Include other Git worktrees").doClick() },
            Values(gemini = false) to { gemini.doClick() },
            Values(qwen = false) to { qwen.doClick() },
            Values(bodyLimitMegabytes = 1024) to { limit.text = " 1024 " },
            Values(logLevel = LogLevel.OFF) to { log.selectedIndex = 0 },
            Values(listenAddresses = "172.17.0.1, fd00::1") to { listen.text = " 172.17.0.1, fd00::1 " },
            Values(allowedHosts = "build-box my.box:9000") to { hosts.text = "build-box my.box:9000" },
        )
        // ProjectConfig, not server(), passes the trust to the server.
        val ofPlugin = listOf<Pair<Values, () -> Unit>>(
            Values(context = false) to { context.doClick() },
            Values(trust = TrustSetting.CLI) to { trust.selectedIndex = 1 },
            Values(saveFiles = false) to { box("Save files before each prompt").doClick() },
            Values(notifyCli = false) to { box("Notify when the CLI waits or has finished").doClick() },
            Values(cliCommand = "npx gemini") to { command.text = " npx gemini " },
        )
        for ((expected, change) in ofServer + ofPlugin) {
            settings.set(Values())
            configurable.reset()
            assertFalse(configurable.isModified)
            change()
            assertTrue("$expected", configurable.isModified)
            assertEquals("nothing is set before it is applied", Values(), settings.values)
            configurable.apply()
            assertEquals(expected, settings.values)
            configurable.reset()
            assertFalse(configurable.isModified)
            val report = HealthReport.settings(expected)
            assertFalse("$expected is in the health report", report == HealthReport.settings(Values()))
        }
        for ((changed, _) in ofServer) assertFalse("$changed", changed.server() == Values().server())
        assertEquals("each setting", Values::class.java.declaredFields.size, ofServer.size + ofPlugin.size)
    }

    fun testTheHealthReportContainsNoTextOfTheUser() {
        val values = Values()
        val texts = Values::class.java.declaredFields.filter { it.type == String::class.java }
        for (field in texts) {
            field.isAccessible = true
            field.set(values, "secret-${field.name}")
        }
        assertFalse(texts.isEmpty())
        assertFalse("secret" in HealthReport.settings(values))
    }

    fun testResetDiscardsChanges() {
        context.doClick()
        limit.text = "x"
        configurable.reset()
        assertFalse(configurable.isModified)
        assertTrue(context.isSelected)
    }

    fun testANumberThatIsNoneIsRefused() {
        for (wrong in listOf("0", "-1", "1025", "6.4", "sixty", "", "99999999999")) {
            review.isSelected = false
            limit.text = wrong
            assertTrue(configurable.isModified)
            assertEquals("Enter a whole number from 1 to 1024 for the largest request, in MB.", refusal())
            assertEquals("nothing of a page with an error is applied", Values(), settings.values)
        }
    }

    fun testACommandIsNeeded() {
        command.text = " "
        assertEquals("Enter the command that runs Gemini CLI.", refusal())
    }

    fun testAnAddressThatIsNoneIsRefused() {
        val problems = mapOf(
            "eth0" to "\"eth0\" is not an IP address; give one without a port, such as 172.17.0.1",
            "10.0.0.1, 224.0.0.1" to "\"224.0.0.1\" is a multicast address, not a machine's",
            "0.0.0.0" to
                "\"0.0.0.0\": every machine that reaches this one could try to connect; give one address, " +
                "such as 172.17.0.1",
        )
        for ((wrong, problem) in problems) {
            listen.text = wrong
            assertTrue(configurable.isModified)
            assertEquals("Listen also on: $problem.", refusal())
            assertEquals(Values(), settings.values)
        }
    }

    fun testAHostThatIsNoneIsRefused() {
        hosts.text = "my.box http://build-box"
        val problem = "\"http://build-box\" is not a host: give the name alone, without http:// and without a path"
        assertEquals("Additional host names: $problem.", refusal())
        assertEquals(Values(), settings.values)
    }

    fun testSomeClientIsToFindTheIde() {
        gemini.doClick()
        qwen.doClick()
        assertEquals("Select at least one CLI.", refusal())
    }

    fun testTheProjectHasAPageOfItsOwnBelow() {
        val pages = Configurable.PROJECT_CONFIGURABLE.getExtensions(getProject())
        val registered = pages.single { it.id == ProjectConfigurable.ID }
        assertEquals(CompanionConfigurable.ID, registered.parentId)
        assertEquals("This Project", registered.getDisplayName())
        val instance = registered.createConfigurable() as ProjectConfigurable
        assertEquals(registered.id, instance.id)
        assertEquals(registered.displayName, instance.displayName)
        assertFalse("nothing shows yet", instance.isModified)
        val boxes = UIUtil.findComponentsOfType(instance.createComponent(), JCheckBox::class.java)
        Disposer.register(testRootDisposable, instance::disposeUIResources)
        instance.reset()
        assertFalse("${boxes.map { it.isSelected }}", boxes.any { it.isSelected } || instance.isModified)
        assertEquals(ProjectSetting.entries.size, boxes.size)
        for ((box, setting) in boxes.zip(ProjectSetting.entries)) {
            for (wanted in listOf(true, false)) {
                box.doClick()
                assertTrue(instance.isModified)
                assertEquals("nothing is set before it is applied", !wanted, setting.isOn(getProject()))
                instance.apply()
                assertEquals(wanted, setting.isOn(getProject()))
                assertFalse(instance.isModified)
            }
        }
    }

    private fun refusal(): String? =
        try {
            configurable.apply()
            null
        } catch (e: ConfigurationException) {
            e.message
        }

    private val context get() = box("Share open files and the selection")
    private val review get() = box("Review edits in the IDE")
    private val diagnostics get() = box("Share problems that the IDE finds")
    private val gemini get() = box("Gemini CLI")
    private val qwen get() = box("Qwen Code")
    private val trust get() = labeled("Trust in projects:") as JComboBox<*>
    private val command get() = labeled("Command:") as JTextField
    private val limit get() = labeled("Largest request, in MB:") as JTextField
    private val listen get() = labeled("Listen also on:") as JTextField
    private val hosts get() = labeled("Additional host names:") as JTextField
    private val log get() = labeled("Log level:") as JComboBox<*>

    private fun box(text: String) = all<JCheckBox>().single { it.text == text }

    private fun labeled(text: String) = all<JLabel>().single { it.text == text }.labelFor

    private inline fun <reified T : JComponent> all(): List<T> = UIUtil.findComponentsOfType(page, T::class.java)
}
