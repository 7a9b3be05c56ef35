// Provides real files, the real manager of tabs, and a recording server for tests of proposals.

package dev.companion.gemini.review

import com.intellij.diff.tools.util.DiffDataKeys
import com.intellij.diff.tools.util.side.TwosideTextDiffViewer
import com.intellij.ide.IdeEventQueue
import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.ActionPlaces
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.actionSystem.DataContext
import com.intellij.openapi.actionSystem.DataProvider
import com.intellij.openapi.actionSystem.IdeActions
import com.intellij.openapi.actionSystem.ex.ActionUtil
import com.intellij.openapi.editor.ex.EditorEx
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.impl.EditorWindow
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.util.io.FileUtil
import com.intellij.openapi.vfs.LocalFileSystem
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.testFramework.EditorTestUtil
import com.intellij.testFramework.FileEditorManagerTestCase
import com.intellij.ui.EditorNotificationPanel
import com.intellij.ui.HyperlinkLabel
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.core.CloseDiff
import dev.companion.gemini.core.OpenDiff
import dev.companion.gemini.core.ProposalKind
import dev.companion.gemini.core.Responder
import dev.companion.gemini.disk.PostponedWrites
import dev.companion.gemini.dispatchUntil
import dev.companion.gemini.tabs.Proposal
import dev.companion.gemini.tabs.ProposalFile
import java.awt.ActiveEvent
import java.awt.event.MouseEvent
import java.io.File
import javax.swing.JComponent
import javax.swing.JLabel

/** Records the answer to a request, if there is one. A second answer fails the test. */
class Answer(private val answered: () -> Unit = {}) : Responder<String?> {
    @Volatile
    var text: String? = null
        private set

    override fun complete(answer: String?) = set(if (answer == null) DONE else "$DONE $answer")

    override fun fail(message: String) = set("failed: $message")

    private fun set(answer: String) {
        check(text == null) { "answered twice: $text, $answer" }
        text = answer
        answered()
    }

    companion object {
        const val DONE = "done"
    }
}

private class SecondClick(private val link: HyperlinkLabel) :
    MouseEvent(link, MOUSE_CLICKED, System.currentTimeMillis(), 0, 1, 1, 2, false),
    ActiveEvent {
    override fun dispatch() = link.doClick()
}

/** A service with other dependencies than the platform's. */
internal class TestProposalService(
    project: Project,
    flush: (VirtualFile) -> Unit,
    alerts: Alerts = Alerts.OfPlatform(project),
    longestPauseMillis: Long = ExpectedTexts.LONGEST_PAUSE_MILLIS,
) : ProposalService(project, flush, alerts, longestPauseMillis)

abstract class DiffTestCase : FileEditorManagerTestCase() {
    protected lateinit var core: RecordingCore
    protected lateinit var root: File
    internal lateinit var service: ProposalService

    /** The calls about the test's files, by their names in the test. */
    protected val calls: List<String> get() = core.calls.map { it.replace(root.path + File.separator, "") }

    override fun setUp() {
        super.setUp()
        root = File(checkNotNull(project.basePath), "diff-${System.nanoTime()}").also { check(it.mkdirs()) }
        core = RecordingCore()
        service = ProposalService.getInstance(project)
    }

    override fun tearDown() {
        try {
            core.close()
            service.follow(null)
            val undelivered = tabs().mapNotNull { it.proposal }.filter { it.state == Proposal.State.UNDELIVERED }
            undelivered.forEach(service::closeByUser)
            await("the end of all proposals") { service.waiting().isEmpty() && tabs().isEmpty() }
            FileUtil.delete(root)
        } finally {
            super.tearDown()
        }
    }

    /** Lets the service look soon for texts that no server looks for. */
    protected fun lookSoon(longestPauseMillis: Long = 100) {
        service = TestProposalService(project, PostponedWrites::flush, longestPauseMillis = longestPauseMillis)
        Disposer.register(testRootDisposable, service)
    }

    protected fun path(name: String): String = File(root, name).path

    /** Creates a file on the disk with exactly this text. */
    protected fun file(name: String, text: String): File =
        File(root, name).also {
            it.parentFile.mkdirs()
            it.writeText(text)
        }

    protected fun virtualFile(file: File): VirtualFile =
        checkNotNull(LocalFileSystem.getInstance().refreshAndFindFileByIoFile(file))

    /** Opens a proposal, like a request of the server. */
    internal fun ProposalService.close(responder: Responder<String?>, path: String, abandoned: Boolean = false) =
        close(core, responder, CloseDiff(path, abandoned))

    internal fun ProposalService.open(responder: Responder<String?>, path: String, text: String, cli: Int = 1) =
        open(core, responder, diff(path, text).copy(cli = cli))

    protected fun diff(path: String, text: String) =
        OpenDiff(path, text, if (File(path).exists()) ProposalKind.CHANGE else ProposalKind.CREATE)

    /** Runs the IDE's events until [condition] holds. */
    protected fun await(what: String, condition: () -> Boolean) = dispatchUntil(10, what, condition)

    /** Returns the final answer to a request. */
    protected fun answer(request: (Responder<String?>) -> Unit): String {
        val answer = Answer()
        request(answer)
        await("an answer") { answer.text != null }
        return checkNotNull(answer.text)
    }

    /** Opens a proposal of [text] for the file [name], and returns its view. */
    protected fun propose(name: String, text: String, cli: Int = 1): View {
        assertEquals(Answer.DONE, answer { service.open(it, path(name), text, cli) })
        return view(name)
    }

    protected fun tabs(): List<ProposalFile> =
        FileEditorManager.getInstance(project).openFiles.filterIsInstance<ProposalFile>()

    /** Returns the view of the waiting proposal for the file [name]. */
    protected fun view(name: String) =
        View(tabs().single { it.targetPath == path(name) && it.proposal?.state == Proposal.State.OPEN })

    /** A tab, as the user sees it. */
    inner class View(val file: ProposalFile) {
        private val editor get() = myManager.getEditors(file).single()
        val component: JComponent get() = editor.component
        val isOpen get() = file in tabs()
        val left get() = viewer().editor1
        val right get() = viewer().editor2
        val banner: String get() = texts(notification()).joinToString(" | ")

        val tooltip: String get() = notification().toolTipText.orEmpty()

        /** Replaces the whole text of the proposal by typing. */
        fun type(text: String) {
            right.selectionModel.setSelection(0, right.document.textLength)
            text.forEach { EditorTestUtil.performTypingAction(right, it) }
        }

        fun click(link: String) = link(link).doClick()

        /** Sends the second of two clicks, at the IDE's present time. */
        fun doubleClick(link: String) = IdeEventQueue.getInstance().dispatchEvent(SecondClick(link(link)))

        private fun link(text: String) =
            UIUtil
                .findComponentsOfType(notification(), HyperlinkLabel::class.java)
                .single { it.text.startsWith(text) }

        /** Closes the tab as the user does. */
        fun close() {
            val action = ActionManager.getInstance().getAction(IdeActions.ACTION_CLOSE_EDITOR)
            val data = mapOf(
                CommonDataKeys.PROJECT.name to project,
                CommonDataKeys.VIRTUAL_FILE.name to file,
                EditorWindow.DATA_KEY.name to myManager.windows.first { it.isFileOpen(file) },
            )
            val context = DataContext(data::get)
            val event = AnActionEvent.createFromAnAction(action, null, ActionPlaces.UNKNOWN, context)
            ActionUtil.performActionDumbAwareWithCallbacks(action, event, context)
            UIUtil.dispatchAllInvocationEvents()
        }

        /** Closes the tab as the platform does. */
        fun lose() {
            myManager.closeFile(file)
            UIUtil.dispatchAllInvocationEvents()
        }

        private fun notification() =
            UIUtil.findComponentsOfType(component, EditorNotificationPanel::class.java).single()

        private fun viewer(): TwosideTextDiffViewer {
            val find = {
                UIUtil
                    .uiTraverser(component)
                    .filter(DataProvider::class.java)
                    .mapNotNull { it.getData(DiffDataKeys.DIFF_VIEWER.name) as? TwosideTextDiffViewer }
                    .firstOrNull()
            }
            await("the viewer") { find() != null }
            return checkNotNull(find())
        }
    }

    private fun texts(component: JComponent): List<String> =
        UIUtil
            .uiTraverser(component)
            .toList()
            .mapNotNull {
                when (it) {
                    is JLabel -> it.text
                    is HyperlinkLabel -> it.text
                    else -> null
                }
            }.filter(String::isNotEmpty)

    protected fun text(editor: EditorEx) = editor.document.text
}
