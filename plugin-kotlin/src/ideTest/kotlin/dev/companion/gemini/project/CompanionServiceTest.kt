// Tests a project's server with the real library, as CLIs and users see it.

package dev.companion.gemini.project

import com.google.gson.JsonObject
import com.google.gson.JsonParser
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileTypes.PlainTextFileType
import com.intellij.openapi.project.ProjectManager
import com.intellij.openapi.project.ex.ProjectManagerEx
import com.intellij.openapi.util.io.FileUtil
import com.intellij.openapi.vfs.LocalFileSystem
import com.intellij.testFramework.LightVirtualFile
import com.intellij.testFramework.PsiTestUtil
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.core.EditorHost
import dev.companion.gemini.core.EditorMessage
import dev.companion.gemini.offEdt
import dev.companion.gemini.shownNotifications
import java.io.File
import java.io.IOException
import java.net.Socket
import java.nio.file.Files
import java.nio.file.Paths
import java.util.concurrent.CopyOnWriteArrayList

class CompanionServiceTest : ServiceTestCase() {
    private val service get() = CompanionService.getInstance(project)
    private val running get() = service.state as CompanionState.Running

    private fun file(state: CompanionState.Running) = File(state.status.discoveryFiles.first().path)

    /** Returns all discovery files of this process. */
    private fun discoveryFiles(state: CompanionState.Running): List<File> {
        val mine = "gemini-ide-server-${ProcessHandle.current().pid()}-"
        return file(state).parentFile.listFiles().orEmpty().filter { it.name.startsWith(mine) }
    }

    private fun start() {
        service.start()
        await { service.state is CompanionState.Running }
    }

    fun testCLIsFindTheServerOfAProject() {
        assertEquals(CompanionState.Starting, service.state)
        start()
        val published = published()
        assertEquals(running.status.port, published["port"].asInt)
        assertTrue(project.basePath in published["workspacePath"].asString.split(File.pathSeparator))
        Socket("127.0.0.1", running.status.port).close()
    }

    fun testHoweverOftenItIsStartedThereIsOne() {
        repeat(20) { service.start() }
        repeat(3) { service.restart() }
        start()
        // Servers start and stop one after the other. With two of them there would always be two files.
        await { (service.state as? CompanionState.Running)?.let { discoveryFiles(it) == listOf(file(it)) } == true }
    }

    fun testNewAddressesRestartItAndOneThatIsMissingIsReported() {
        start()
        val old = running
        assertEquals(listOf("127.0.0.1:${old.status.port}"), old.status.listening)
        set {
            listenAddresses = "127.0.0.2, 192.0.2.1"
            allowedHosts = "build-box"
        }
        await { (service.state as? CompanionState.Running)?.status?.listening?.size == 2 }
        assertEquals(listOf("127.0.0.1", "127.0.0.2").map { "$it:${running.status.port}" }, running.status.listening)
        val missing = running.status.notListening.single()
        assertTrue(missing, missing.startsWith("can't listen on 192.0.2.1"))
        Socket("127.0.0.2", running.status.port).close()
        assertEquals(listOf("build-box"), offEdt { ProjectConfig.of(project) }?.allowedHosts)
    }

    fun testNewRootsAreSent() {
        start()
        val port = running.status.port
        val folder = Files.createTempDirectory(Paths.get(project.basePath).parent, "root").toFile()
        myFilesToDelete.add(folder)
        val root = checkNotNull(LocalFileSystem.getInstance().refreshAndFindFileByIoFile(folder))
        PsiTestUtil.addContentRoot(module, root)
        await { folder.path in workspace() }
        PsiTestUtil.removeContentEntry(module, root)
        await { folder.path !in workspace() }
        assertEquals(port, running.status.port)
    }

    fun testClosingTheProjectStopsIt() {
        val folder = FileUtil.createTempDirectory("other", null)
        val other = createProject(File(folder, "other.ipr"), name)
        assertTrue(ProjectManagerEx.getInstanceEx().openProject(other))
        val service = CompanionService.getInstance(other)
        service.start()
        await { service.state is CompanionState.Running }
        val state = service.state as CompanionState.Running
        ProjectManagerEx.getInstanceEx().forceCloseProject(other, true)
        await { !File(state.status.discoveryFiles.first().path).exists() }
        assertRefused(state.status.port)
        assertNull("what the worker has still to do is done for nothing", offEdt { ProjectConfig.of(other) })
    }

    fun testTheProjectForNewProjectsHasNone() {
        val service = CompanionService.getInstance(ProjectManager.getInstance().defaultProject)
        service.start()
        service.restart()
        assertEquals(CompanionState.Starting, service.state)
    }

    fun testWithNothingToDoThereIsNoServer() {
        start()
        val port = running.status.port
        set {
            context = false
            review = false
            diagnostics = false
        }
        await { service.state == CompanionState.Off }
        assertRefused(port)
        assertNull(service.core)
        set { diagnostics = true }
        await { service.state is CompanionState.Running }
        assertEquals("false true", offEdt { ProjectConfig.of(project)?.run { "$review $diagnostics" } })
    }

    fun testTheFileThatHadTheFocusKeepsItOverARestartWhileAnotherTabIsInFront() {
        val cores = CopyOnWriteArrayList<RecordingCore>()
        val service = serviceWith { _, _ -> RecordingCore().also(cores::add) }
        service.start()
        await { service.state is CompanionState.Running }
        val folder = FileUtil.createTempDirectory("context", null).canonicalFile
        val file = File(folder, "seen.txt").apply { writeText("text") }
        val editors = FileEditorManager.getInstance(project)
        editors.openFile(checkNotNull(LocalFileSystem.getInstance().refreshAndFindFileByIoFile(file)), true)
        await { "focused ${file.path}" in cores.single().calls }
        editors.openFile(LightVirtualFile("other.txt", PlainTextFileType.INSTANCE, ""), true)
        service.restart()
        await { "opened ${file.path}" in cores.last().calls && cores.size == 2 }
        assertTrue(cores.last().calls.toString(), "focused ${file.path}" in cores.last().calls)
        editors.openFiles.forEach(editors::closeFile)
    }

    fun testTheQuestionOfACLIIsNotShownAfterTheEndOfItsServerWhichWouldReportTheAnswer() {
        val shown = shownNotifications(project, testRootDisposable)
        val editors = CopyOnWriteArrayList<EditorHost>()
        val cores = CopyOnWriteArrayList<RecordingCore>()
        val service = serviceWith { _, editor ->
            editors += editor
            RecordingCore().also(cores::add)
        }
        service.start()
        await { service.state is CompanionState.Running }
        editors.single().receive(cores.single(), EditorMessage.CliWaiting("one", "Run it?"))
        await { shown.isNotEmpty() }
        assertFalse(shown.single().isExpired)
        service.restart()
        await { shown.single().isExpired }
    }

    fun testARestartLeavesTheQuestionOfTheNextServerAndTheEndOfATurn() {
        val shown = shownNotifications(project, testRootDisposable)
        val service = serviceWith { _, editor ->
            RecordingCore().also { core ->
                editor.receive(core, EditorMessage.CliWaiting("asks", "Run it?"))
                editor.receive(core, EditorMessage.CliFinished("done", 60))
            }
        }
        service.start()
        await { shown.size == 2 }
        service.restart()
        await { shown.size == 4 }
        assertEquals(listOf(true, true, false, false), shown.map { it.isExpired })
    }

    private fun published(): JsonObject =
        JsonParser().parse(File(running.status.discoveryFiles.first().path).readText()).asJsonObject

    private fun workspace() = published()["workspacePath"].asString.split(File.pathSeparator)

    private fun assertRefused(port: Int) =
        await {
            try {
                Socket("127.0.0.1", port).close()
                false
            } catch (_: IOException) {
                true
            }
        }
}
