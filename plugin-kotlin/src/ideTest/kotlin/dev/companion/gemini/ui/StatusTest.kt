// Tests the status widget and the notifications.

package dev.companion.gemini.ui

import com.intellij.ide.util.PropertiesComponent
import com.intellij.notification.Notification
import com.intellij.notification.NotificationAction
import com.intellij.notification.NotificationType
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.CommonShortcuts
import com.intellij.openapi.actionSystem.ex.ActionUtil
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.ModalityState
import com.intellij.openapi.application.WriteAction
import com.intellij.openapi.ide.CopyPasteManager
import com.intellij.openapi.roots.ex.ProjectRootManagerEx
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.wm.StatusBarWidgetProvider
import com.intellij.openapi.wm.WindowManager
import com.intellij.openapi.wm.ex.WelcomeScreenProjectProvider
import com.intellij.testFramework.TestActionEvent
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.ConnectedCli
import dev.companion.gemini.core.DiscoveryFile
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.core.ServerStatus
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.project.CompanionService
import dev.companion.gemini.project.CompanionSettings
import dev.companion.gemini.project.CompanionState
import dev.companion.gemini.project.CompanionState.Failed
import dev.companion.gemini.project.CompanionState.Off
import dev.companion.gemini.project.CompanionState.Running
import dev.companion.gemini.project.CompanionState.Starting
import dev.companion.gemini.project.CompanionStateListener
import dev.companion.gemini.project.ServiceTestCase
import dev.companion.gemini.shownNotifications
import java.awt.datatransfer.DataFlavor
import java.util.concurrent.atomic.AtomicInteger
import javax.swing.JComponent
import javax.swing.JEditorPane
import javax.swing.JLabel

class StatusTest : ServiceTestCase() {
    private lateinit var shown: List<Notification>

    override fun setUp() {
        super.setUp()
        PropertiesComponent.getInstance().unsetValue("dev.companion.gemini.greeted")
        shown = shownNotifications(project, testRootDisposable)
        Platform.service(project, CompanionNotifications::class.java)
    }

    private fun state(state: CompanionState) {
        project.messageBus.syncPublisher(CompanionStateListener.TOPIC).stateChanged(state)
        UIUtil.dispatchAllInvocationEvents()
    }

    private fun running(
        connected: Int,
        file: String?,
        listening: List<String> = emptyList(),
        missing: List<String> = emptyList(),
    ) = Running(ServerStatus(1, listening, missing, files(file), List(connected) { ConnectedCli() }))

    /** Returns the file of a client that is used here. Without [path] the file could not be written. */
    private fun files(path: String?) = listOf(DiscoveryFile("gemini", path ?: "/gone", inPlace = path != null))

    /** Starts a server that answers with [status]. */
    private fun started(status: () -> ServerStatus): CompanionService {
        val core = object : RecordingCore() {
            override fun <A> request(request: ServerMessage.Request<A>): A? =
                if (request === ServerMessage.Status) request.answer.cast(status()) else super.request(request)
        }
        return serviceWith { _, _ -> core }.also { it.start() }
    }

    private fun actions(notification: Notification): List<String?> =
        notification.actions.map { action: AnAction -> action.templatePresentation.text }

    fun testAFailureIsReportedOnceWithWhatToDo() {
        repeat(2) { state(Failed("No <port>.")) }
        val notification = shown.single()
        assertEquals(NotificationType.ERROR, notification.type)
        assertEquals("Companion for Gemini CLI", notification.title)
        assertEquals("No &lt;port&gt;.", notification.content)
        assertEquals(listOf("Restart companion", "Settings\u2026", "Copy health report"), actions(notification))
        assertFalse(notification.isExpired)
        state(running(0, "/file"))
        assertTrue("it is over", notification.isExpired)
        state(Failed("No <port>."))
        assertEquals("it is back", 2, shown.size)
    }

    private val launches = AtomicInteger()

    private fun fail(): CompanionCore {
        // The state before the start is shown before it fails.
        ApplicationManager.getApplication().invokeAndWait({}, ModalityState.any())
        launches.incrementAndGet()
        error("No port.")
    }

    private fun changeRoots() =
        WriteAction.run<RuntimeException> {
            ProjectRootManagerEx.getInstanceEx(project).makeRootsChange({}, false, true)
        }

    fun testAFailureThatRepeatsAtAChangeOfTheRootsIsNotReportedAgain() {
        val service = serviceWith { _, _ -> fail() }
        service.start()
        await { shown.isNotEmpty() }
        val former = launches.get()
        changeRoots()
        await { launches.get() > former && service.state is Failed }
        assertFalse("it is still shown", shown.single().isExpired)
        service.restart()
        await { shown.size == 2 }
    }

    fun testAMissingDiscoveryFileIsReported() {
        state(running(0, null))
        state(running(1, null))
        val notification = shown.first()
        assertEquals(NotificationType.WARNING, notification.type)
        assertTrue(notification.content, "Cannot write the discovery file: /gone" in notification.content)
        assertEquals(1, shown.count { it.type == NotificationType.WARNING })
    }

    fun testADiscoveryFileThatIsWrittenLaterEndsTheProblem() {
        var status = ServerStatus(discoveryFiles = files(null))
        started { status }
        await { shown.isNotEmpty() }
        status = ServerStatus(discoveryFiles = files("/file"))
        await { shown.single().isExpired }
    }

    fun testThePopupShowsThePresentStatus() {
        var status = ServerStatus(discoveryFiles = files("/old"))
        val service = started { status }
        await { service.state is Running }
        status = ServerStatus(discoveryFiles = files("<html>/<b>new"), clis = listOf(ConnectedCli()))
        val content = StatusPopup(project).content(service)
        val labels = UIUtil.findComponentsOfType(content, JLabel::class.java).map { it.text }
        assertTrue("$labels", ServerStateText.title(Running(status)) in labels)
        assertTrue("a path is no HTML", "<html>/<b>new" in texts(content))
    }

    fun testNoFeatureIsOffBeforeTheStartOrInAWelcomeScreen() {
        val service = serviceWith { _, _ -> RecordingCore() }
        val labels = {
            UIUtil.findComponentsOfType(StatusPopup(project).content(service), JLabel::class.java).map { it.text }
        }
        assertTrue("${labels()}", "Starting\u2026" in labels())
        assertFalse("${labels()}", labels().any { "features are off" in it })
        WelcomeScreenProjectProvider.welcome = project
        try {
            service.start()
        } finally {
            WelcomeScreenProjectProvider.welcome = null
        }
        assertTrue("${labels()}", labels().any { "Open a project to connect a CLI." in it })
        assertFalse("${labels()}", labels().any { "features are off" in it })
    }

    fun testAnAddressThatIsNotThereIsReported() {
        state(running(0, "/file", listOf("127.0.0.1:1"), listOf("can't listen on 172.17.0.1: not there")))
        val notification = shown.single()
        assertEquals(NotificationType.WARNING, notification.type)
        val text = "Containers may not reach the companion: can't listen on 172.17.0.1: not there. " +
            "Restart the companion"
        assertTrue(notification.content, notification.content.replace("&#39;", "'").startsWith(text))
        state(running(0, "/file", listOf("127.0.0.1:1", "172.17.0.1:1")))
        assertTrue("it is over", notification.isExpired)
    }

    fun testTheFirstCLIIsAnnouncedOnce() {
        state(running(0, "/file"))
        assertEquals(0, shown.size)
        state(running(1, "/file"))
        state(running(0, "/file"))
        state(running(1, "/file"))
        assertEquals(NotificationType.INFORMATION, shown.single().type)
        val greeting = shown.single()
        val lines = listOf(greeting.title, greeting.content) + actions(greeting)
        val expected =
            listOf(
                "Shared: open files, selection, problems",
                "You review the CLI\u2019s edits in tabs; Ctrl+Enter accepts.",
                "Change this in the settings\u2026",
            )
        assertEquals(expected, lines)
    }

    fun testTheGreetingSaysNoMoreThanTheSettingsAllow() {
        val settings = { context: Boolean, problems: Boolean ->
            CompanionSettings.Values(context = context, diagnostics = problems, review = false)
        }
        assertEquals("Shared: open files and the selection", Greeting.shared(settings(true, false), true))
        assertEquals("Shared: problems that the IDE finds", Greeting.shared(settings(false, true), true))
        assertEquals("Shared: neither context nor problems", Greeting.shared(settings(false, false), true))
        assertEquals("Shared: neither context nor problems", Greeting.shared(settings(true, true), false))
        assertEquals("You review the CLI\u2019s edits in its terminal.", Greeting.review(settings(true, true)))
    }

    fun testTheWidgetShowsTheState() {
        val provider = StatusBarWidgetProvider.EP_NAME.extensionList.single { it is CompanionStatusBarWidgetProvider }
        val widget = checkNotNull(provider.getWidget(project)) as CompanionStatusWidget
        Disposer.register(testRootDisposable, widget)
        widget.install(WindowManager.getInstance().getStatusBar(project))
        val label = widget.component as JLabel
        await { label.icon != null }
        assertTrue("the keyboard reaches it", label.isFocusable)
        assertTrue(ActionUtil.getActions(label).any { it.shortcutSet === CommonShortcuts.ENTER })
        val texts = { "${label.text}|${label.toolTipText}" }
        assertEquals("|Companion for Gemini CLI: Starting\u2026", texts())
        val icons = LinkedHashSet(listOf(label.icon))
        val expected = listOf(
            Starting to "|Companion for Gemini CLI: Starting\u2026",
            running(0, "/file") to "|Companion for Gemini CLI: Waiting for a CLI",
            running(1, "/file") to "1|Companion for Gemini CLI: 1 CLI connected",
            running(2, "/file") to "2|Companion for Gemini CLI: 2 CLIs connected",
            Failed("No port.") to "|Companion for Gemini CLI: Failed",
            Off to "|Companion for Gemini CLI: Off",
            CompanionState.Remote to "|Companion for Gemini CLI: Not supported in Remote Development",
        )
        for ((state, text) in expected) {
            state(state)
            assertEquals(text, texts())
            icons += label.icon
        }
        assertEquals("off, waiting, connected, failed", 4, icons.size)
    }

    /** The texts that the user can copy. */
    private fun texts(content: JComponent): List<String> =
        UIUtil
            .findComponentsOfType(content, JEditorPane::class.java)
            .map { it.document.getText(0, it.document.length).trim() }

    fun testAnotherCompanionIsReportedOnce() {
        PropertiesComponent.getInstance().unsetValue("dev.companion.gemini.warnedOfOther")
        assertNull("it is not installed", OtherCompanion.name())
        val name = checkNotNull(OtherCompanion.name(listOf("there.is.none", "dev.companion.gemini")))
        repeat(2) { CompanionNotifications.getInstance(project).warnOnceOfOther(name) }
        val start = "The plugin Companion for Gemini CLI also connects Gemini CLI"
        assertTrue(shown.single().content, shown.single().content.startsWith(start))
        assertEquals(NotificationType.WARNING, shown.single().type)
    }

    fun testAMissingCLIComesWithTheLineThatInstallsIt() {
        var hasRun = false
        CompanionNotifications.getInstance(project).sayMissing { hasRun = true }
        val notification = shown.single()
        assertTrue(notification.content, notification.content.endsWith(": npm install -g @google/gemini-cli"))
        assertEquals(listOf("Copy command", "Run anyway", "Settings\u2026"), actions(notification))
        val (copy, run) = notification.actions.map { it as NotificationAction }
        val event = TestActionEvent(copy)
        copy.actionPerformed(event, notification)
        val clipboard = CopyPasteManager.getInstance().getContents<String>(DataFlavor.stringFlavor)
        assertEquals("npm install -g @google/gemini-cli", clipboard)
        assertFalse(hasRun)
        run.actionPerformed(event, notification)
        assertTrue(hasRun)
        assertTrue("it is over", notification.isExpired)
    }
}
