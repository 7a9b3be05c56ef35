// Keeps the server of a project, and connects it with the project's editors and proposals.

package dev.companion.gemini.project

import com.intellij.openapi.Disposable
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.progress.ProcessCanceledException
import com.intellij.openapi.project.Project
import com.intellij.openapi.roots.ModuleRootEvent
import com.intellij.openapi.roots.ModuleRootListener
import com.intellij.openapi.util.Disposer
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.changes.ChangesService
import dev.companion.gemini.comments.CommentService
import dev.companion.gemini.context.EditorContext
import dev.companion.gemini.context.UnsavedFiles
import dev.companion.gemini.core.CliChange
import dev.companion.gemini.core.CliCommand
import dev.companion.gemini.core.CloseDiff
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.DiagnosticsRequest
import dev.companion.gemini.core.EditorHost
import dev.companion.gemini.core.EditorMessage
import dev.companion.gemini.core.OpenDiff
import dev.companion.gemini.core.Responder
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.core.ServerSettings
import dev.companion.gemini.core.UnsavedPaths
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.core.status
import dev.companion.gemini.diagnostics.DiagnosticsService
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.later
import dev.companion.gemini.review.ProposalService
import dev.companion.gemini.target.ShownPath
import java.awt.EventQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean

/**
 * Starts, restarts and stops a project's server. Any thread may call it, and nothing here waits. One worker does all
 * blocking tasks in order. It brings the server to the state that is wanted at that time, so only the last of several
 * quick changes counts.
 */
open class CompanionService protected constructor(
    private val project: Project,
    launch: (ServerSettings, EditorHost) -> CompanionCore,
) : Disposable {
    private val worker = AppExecutorUtil.createBoundedApplicationPoolExecutor("Companion for Gemini CLI", 1)
    private val proposals = ProposalService.getInstance(project)
    private val diagnostics = DiagnosticsService.getInstance(project)
    private val comments = CommentService.getInstance(project)
    private val changes = ChangesService.getInstance(project)
    private val unsaved = UnsavedFiles(project, comments::update)
    private val notices = CliNotices(project)
    private val slot = CoreSlot { launch(it, EditorHost(::receive)) }
    private val refreshQueued = AtomicBoolean()

    private val stateLock = Any()

    @Volatile
    private var started = false

    /** Changed by the worker and by the server's callbacks, one at a time. */
    @Volatile
    var state: CompanionState = CompanionState.Starting
        private set

    /** The state with the server's present status. */
    val presentState: CompanionState get() = updated(state)

    /** Null unless a server runs. */
    val core: CompanionCore? get() = slot.core

    /** Open until the first attempt to start a server has ended, or no server is wanted. */
    private val firstTry = CountDownLatch(1)

    /**
     * Returns the server, or null. Off the EDT this waits for up to two seconds for a server that starts with the
     * project, because the IDE restores terminals at the same time.
     */
    fun awaitCore(): CompanionCore? {
        if (!EventQueue.isDispatchThread()) firstTry.await(START_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)
        return core
    }

    /** The folders that CLIs receive. */
    val roots: List<String> get() = slot.settings?.workspace.orEmpty()

    /** EDT. The watched editors. */
    private var context: EditorContext? = null

    constructor(project: Project) : this(project, ServerLaunch::start)

    /** A platform member that the service needs and this IDE lacks. Then no server starts. */
    private var missing: LinkageError? = null

    init {
        try {
            listen()
        } catch (e: LinkageError) {
            missing = e
        }
    }

    private fun listen() {
        val roots = object : ModuleRootListener {
            override fun rootsChanged(event: ModuleRootEvent) = refresh()
        }
        project.messageBus.connect(this).subscribe(Platform.rootsTopic, roots)
        val settings = CompanionSettings.Listener { refresh() }
        ApplicationManager.getApplication().messageBus.connect(this).subscribe(CompanionSettings.TOPIC, settings)
        project.messageBus.connect(this).subscribe(ProjectSetting.TOPIC, CompanionSettings.Listener(::projectChanged))
        Platform.onTrustChanged(project, this, ::refresh)
    }

    /** Starts the server, unless it runs or the settings disable it. */
    fun start() {
        if (mayStart()) refresh()
    }

    /** Stops the server and starts another. CLIs stay connected, and proposals stay open. */
    fun restart() {
        if (!mayStart()) return
        worker.execute {
            changeState { CompanionState.Starting }
            bringUpToDate(restarts = true)
        }
    }

    /** Returns whether the project can have a server. If so, the service keeps one running from now on. */
    private fun mayStart(): Boolean {
        if (project.isDefault) return false
        when {
            IdeMode.isWelcomeScreen(project) -> changeState { CompanionState.WelcomeScreen }
            IdeMode.isRemote() -> changeState { CompanionState.Remote }
            else -> started = true
        }
        if (!started) firstTry.countDown()
        return started
    }

    /** Updates or restarts the server, if the wanted state has changed. */
    private fun refresh() {
        if (!started || !refreshQueued.compareAndSet(false, true)) return
        worker.execute {
            refreshQueued.set(false)
            bringUpToDate()
        }
    }

    /** EDT. Takes effect at once, even while the worker is busy, because private data must not be shared meanwhile. */
    private fun projectChanged() {
        assertEdt()
        val isShared = !ProjectSetting.HIDE_CONTEXT.isOn(project)
        core?.send(ServerMessage.ShareContext(isShared))
        proposals.isShared = isShared
        core?.send(ServerMessage.Review(ProjectSetting.REVIEW_ALL.isOn(project)))
        refresh()
    }

    /** Runs on the worker. */
    private fun bringUpToDate(restarts: Boolean = false) {
        assertNotEdt()
        if (!started) return
        val last = slot.core
        try {
            missing?.let { throw it }
            ShownPath.findRoot(project)
            val wanted = ProjectConfig.of(project)
            // A failure that only repeats is not shown again.
            if (wanted != null && slot.core == null && state !is CompanionState.Failed) {
                changeState { CompanionState.Starting }
            }
            slot.bring(wanted, restarts)
            changeState { slot.core?.let { CompanionState.Running(it.status) } ?: CompanionState.Off }
        } catch (e: ProcessCanceledException) {
            throw e
        } catch (e: Throwable) {
            val message = ServerLaunch.report(e)
            changeState { CompanionState.Failed(message) }
        } finally {
            firstTry.countDown()
        }
        // The project's proposals have ended with it, and the IDE may accept no more work.
        if (project.isDisposed) return
        if (slot.core !== last) proposals.follow(slot.core)
        project.later(::watchEditors)
    }

    private fun changeState(change: (CompanionState) -> CompanionState) {
        synchronized(stateLock) {
            val changed = change(state)
            if (changed == state) return
            state = changed
        }
        project.later { project.messageBus.syncPublisher(CompanionStateListener.TOPIC).stateChanged(state) }
    }

    /** EDT. */
    private fun watchEditors() {
        assertEdt()
        val current = slot.core
        comments.connect(current)
        changes.forgetClosed()
        notices.forgetClosed()
        val wanted = current?.takeIf { CompanionSettings.getInstance().values.context }
        val old = context
        if (old?.core === wanted) return
        val file = old?.focusedFile
        if (old != null) {
            Disposer.dispose(old)
            if (old.core === current) old.forgetFiles()
        }
        context = wanted?.let { EditorContext(project, it, file) }
        context?.let {
            Disposer.register(this, it)
            it.start()
        }
    }

    /** EDT. The worker stops the server, or the end of the process does. */
    override fun dispose() {
        started = false
        worker.execute(slot::end)
    }

    /** Runs on the server's callback thread. */
    private fun receive(core: CompanionCore, message: EditorMessage) {
        when (message) {
            is OpenDiff -> proposals.open(core, message.responder, message)
            is CloseDiff -> proposals.close(core, message.responder, message)
            is EditorMessage.Accept -> proposals.accept(message.responder, message.filePath)
            is EditorMessage.Reject -> proposals.reject(message.responder, message.filePath)
            is DiagnosticsRequest -> diagnostics.find(message.responder, message)
            is EditorMessage.ListUnsaved -> listUnsaved(message.responder)
            is EditorMessage.Clients -> updateStatus()
            is EditorMessage.CliWaiting -> notices.waiting(core, message.session, message.message)
            is EditorMessage.CliAnswered -> notices.answered(message.session)
            is EditorMessage.CliFinished -> notices.finished(message.session, message.seconds)
            is EditorMessage.Written -> proposals.written(message.filePath)
            is EditorMessage.Unwritten -> proposals.unwritten(message.filePath)
            is EditorMessage.ReasonLost -> proposals.reasonLost(message.filePath, message.reason, message.why)
            is EditorMessage.CommentsDelivered -> comments.delivered(message.ids)
            is EditorMessage.CommentRefused -> comments.refused(message.id, message.reason)
            is EditorMessage.CommentsPending -> comments.restored(message.comments)
            is CliChange -> changes.changed(core, message)
            is CliCommand -> changes.command(core, message)
        }
    }

    private fun listUnsaved(responder: Responder<UnsavedPaths>) {
        val save = CompanionSettings.getInstance().values.saveFiles
        unsaved.list(roots, save) { responder.complete(UnsavedPaths(it)) }
    }

    /** Asks the present server for its status. A message that leads here may come from an earlier server. */
    fun updateStatus() = changeState(::updated)

    /** Returns [state] with the server's present status. */
    private fun updated(state: CompanionState): CompanionState {
        val status = slot.core?.status
        return if (state is CompanionState.Running && status != null) CompanionState.Running(status) else state
    }

    companion object {
        private const val START_TIMEOUT_MILLIS = 2_000L

        fun getInstance(project: Project): CompanionService = Platform.service(project, CompanionService::class.java)
    }
}
