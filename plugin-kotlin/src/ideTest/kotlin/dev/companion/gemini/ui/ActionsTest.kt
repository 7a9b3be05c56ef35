// Tests the actions: when they are enabled, and their effect.

package dev.companion.gemini.ui

import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.actionSystem.DefaultActionGroup
import com.intellij.openapi.actionSystem.KeyboardShortcut
import com.intellij.openapi.actionSystem.Presentation
import com.intellij.openapi.ide.CopyPasteManager
import com.intellij.openapi.keymap.KeymapManager
import com.intellij.openapi.keymap.ex.KeymapManagerEx
import com.intellij.openapi.project.DumbAware
import com.intellij.openapi.project.Project
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.eventOn
import dev.companion.gemini.offEdt
import dev.companion.gemini.project.CompanionService
import dev.companion.gemini.project.CompanionState
import dev.companion.gemini.project.ServiceTestCase
import dev.companion.gemini.tabs.ProposalActionIds
import java.awt.datatransfer.DataFlavor
import java.awt.datatransfer.StringSelection
import java.util.concurrent.CountDownLatch

class ActionsTest : ServiceTestCase() {
    private val onProposals = listOf("NextProposal", "PreviousProposal", "AcceptAllProposals", "RejectAllProposals")
    private val onServer = listOf("ShowStatus", "RestartServer", "CopyHealthReport", "OpenSettings")
    private val ids = (listOf("RunCli", "AddToPrompt", "Comment") + onProposals + onServer).map { "Companion.$it" }

    private fun presentation(id: String, project: Project? = this.project): Presentation =
        ActionManager.getInstance().getAction(id).eventOn(CommonDataKeys.PROJECT to project).presentation

    private fun perform(id: String) {
        val action = ActionManager.getInstance().getAction(id)
        action.actionPerformed(action.eventOn(CommonDataKeys.PROJECT to project))
    }

    fun testAllAreInTheMenuAndSayWhatTheyDo() {
        val menu = ActionManager.getInstance().getAction("Companion.Menu") as DefaultActionGroup
        val inMenu = menu.getChildren(null).mapNotNull { ActionManager.getInstance().getId(it) }
        assertEquals(ids, inMenu)
        val tools = ActionManager.getInstance().getAction("ToolsMenu") as DefaultActionGroup
        assertTrue(menu in tools.getChildren(null))
        for (action in (inMenu + "Companion.Menu").map(ActionManager.getInstance()::getAction)) {
            assertFalse(action.templatePresentation.text.isNullOrBlank())
            assertFalse(action.templatePresentation.description.isNullOrBlank())
        }
        for (id in inMenu) {
            assertTrue(ActionManager.getInstance().getAction(id) is DumbAware)
            assertNotNull(presentation(id).icon)
        }
    }

    fun testSomeAreInOtherMenusToo() {
        val places = mapOf(
            "RunCli" to "EditorTab",
            "AddToPrompt" to "EditorTab",
            "Comment" to "Editor EditorGutter Diff.Editor",
        )
        for ((id, menus) in places) {
            val action = ActionManager.getInstance().getAction("Companion.$id")
            for (menu in menus.split(" ")) {
                val group = ActionManager.getInstance().getAction("${menu}PopupMenu") as DefaultActionGroup
                assertTrue("$id in $menu", action in group.getChildren(null))
            }
        }
    }

    /** Checks the keymaps of this platform. platform-behaviours.md lists today's, which were read only. */
    fun testTheKeysAreNoOtherActionsInAnyKeymap() {
        for (id in listOf("Companion.RunCli", "Companion.Comment", ProposalActionIds.REJECT_WITH_REASON)) {
            for (keymap in KeymapManagerEx.getInstanceEx().allKeymaps) {
                val shortcut = keymap.getShortcuts(id).filterIsInstance<KeyboardShortcut>().single()
                assertEquals(keymap.name, listOf(id), keymap.getActionIds(shortcut.firstKeyStroke).asList())
            }
        }
        assertNotNull(KeymapManager.getInstance().getKeymap("Mac OS X 10.5+"))
    }

    fun testWithoutAProjectThereAreOnlySettings() {
        assertEquals(listOf("Companion.OpenSettings"), ids.filter { presentation(it, null).isEnabled })
    }

    fun testTheServerCanBeRestartedOnceItHasStartedOrFailed() {
        val mayStart = CountDownLatch(1)
        var fails = true
        val service = serviceWith { _, _ ->
            mayStart.await()
            if (fails) throw IllegalStateException("no port") else RecordingCore()
        }
        val enabled = { presentation("Companion.RestartServer").isEnabled }
        assertFalse("off", enabled())
        service.start()
        await { service.state == CompanionState.Starting }
        assertFalse("starting", enabled())
        mayStart.countDown()
        await { service.state is CompanionState.Failed }
        assertTrue("failed", enabled())
        fails = false
        perform("Companion.RestartServer")
        await { service.state is CompanionState.Running }
        assertTrue("running", enabled())
        set {
            context = false
            review = false
            diagnostics = false
        }
        await { service.state == CompanionState.Off }
        assertFalse("turned off", enabled())
    }

    fun testDiagnosticsGoToTheClipboard() {
        perform("Companion.CopyHealthReport")
        val expected = HealthReport.of(project)
        await { CopyPasteManager.getInstance().getContents<String>(DataFlavor.stringFlavor) == expected }
    }

    fun testTheRestIsThereIfTheDiagnosisFails() {
        val core = object : RecordingCore() {
            override fun <A> request(request: ServerMessage.Request<A>): A? =
                if (request === ServerMessage.Diagnose) throw RuntimeException("a panic") else super.request(request)
        }
        val service = serviceWith { _, _ -> core }
        service.start()
        await { service.state is CompanionState.Running }
        CopyPasteManager.getInstance().setContents(StringSelection(""))
        perform("Companion.CopyHealthReport")
        await { CopyPasteManager.getInstance().getContents<String>(DataFlavor.stringFlavor).orEmpty().isNotEmpty() }
        val text = CopyPasteManager.getInstance().getContents<String>(DataFlavor.stringFlavor).orEmpty()
        assertTrue(text, "Connected: " in text && text.endsWith("The diagnosis failed; the IDE's log says why."))
    }

    /** Uses the real server, because it has a real token. */
    fun testDiagnosticsHelpAndHaveNothingSecret() {
        set {
            cliCommand = "GEMINI_API_KEY=secret gemini"
            listenAddresses = "127.0.0.2 192.0.2.1"
            allowedHosts = "secret.example"
        }
        val service = CompanionService.getInstance(project)
        service.start()
        await { service.state is CompanionState.Running }
        val status = (service.state as CompanionState.Running).status
        val text = offEdt { HealthReport.of(project) }
        assertTrue(text, "\nWhere the CLI runs\n" in text)
        val helps =
            listOf(
                "running on port ${status.port}",
                "${status.discoveryFiles.first().path}",
                "Connected: []",
                "Folders: ",
                "183.",
            ) +
                listOf("127.0.0.2:${status.port}", "Not listening: [can't listen on 192.0.2.1", "allowedHosts=1")
        for (help in helps + System.getProperty("java.version")) assertTrue("$help in $text", help in text)
        val environment = checkNotNull(service.core?.request(ServerMessage.Environment)).env
        val token = environment.getValue("GEMINI_CLI_IDE_AUTH_TOKEN")
        for (secret in listOf(token, "secret")) {
            assertFalse("$secret in $text", secret in text)
        }
    }
}
