// Provides a project window without an IDE: a folder, a server, and the requests to its editor.

package dev.companion.gemini.core

import java.nio.file.Path
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import java.util.logging.Level

/** The timeout of a test, in seconds. Far above the needs of a busy machine. */
const val WAIT_SECONDS = 60L

/** The folder of the plugin under test, which has the library in it. */
val pluginDirectory: Path = Path.of(System.getProperty("companion.plugin.home"))

/** The oldest element, or an error with [what] as the missing one. */
fun <T : Any> LinkedBlockingQueue<T>.next(what: String): T =
    poll(WAIT_SECONDS, TimeUnit.SECONDS) ?: error("nothing came in $WAIT_SECONDS s: $what")

/** The first element for which [matches] holds; drops those before it. */
fun <T : Any> LinkedBlockingQueue<T>.until(what: String, matches: (T) -> Boolean): T =
    generateSequence { next(what) }.first(matches)

/** A CLI's request to the editor. */
class Asked(
    val what: String,
    val path: String,
    val text: String?,
    val request: EditorRequest,
)

/** Keeps requests until a test looks at them. [hook] runs first, on the server's thread. */
class RecordingRequests(private val hook: (String) -> Unit = {}) : EditorRequests {
    val asked = LinkedBlockingQueue<Asked>()
    val proposals = LinkedBlockingQueue<OpenDiff>()
    val connected = LinkedBlockingQueue<Int>()
    val unsaved = LinkedBlockingQueue<UnsavedResponder>()
    val refusedComments = LinkedBlockingQueue<Pair<String, String>>()
    val pendingComments = LinkedBlockingQueue<List<CommentOnLines>>()
    val changes = LinkedBlockingQueue<AgentChange>()
    val diagnostics = LinkedBlockingQueue<Pair<DiagnosticsResponder, DiagnosticsRequest>>()

    private fun ask(what: String, path: String, text: String?, request: EditorRequest) {
        hook(what)
        asked.put(Asked(what, path, text, request))
    }

    override fun openDiff(core: CompanionCore, request: EditorRequest, diff: OpenDiff) {
        proposals.put(diff)
        ask("openDiff", diff.filePath, diff.newContent, request)
    }

    override fun closeDiff(request: EditorRequest, filePath: String) = ask("closeDiff", filePath, null, request)

    override fun acceptDiff(request: EditorRequest, filePath: String) = ask("acceptDiff", filePath, null, request)

    override fun rejectDiff(request: EditorRequest, filePath: String) = ask("rejectDiff", filePath, null, request)

    override fun diagnostics(responder: DiagnosticsResponder, asked: DiagnosticsRequest) {
        hook("diagnostics")
        diagnostics.put(responder to asked)
    }

    override fun unsavedFiles(responder: UnsavedResponder) {
        hook("unsavedFiles")
        unsaved.put(responder)
    }

    override fun agentWaiting(session: String, message: String) = hook("agentWaiting")

    override fun agentFinished(session: String, seconds: Long) = hook("agentFinished")

    override fun reasonLost(filePath: String, reason: String, why: String) = hook("reasonLost")

    override fun commentsDelivered(ids: List<String>) = hook("commentsDelivered")

    override fun commentRefused(id: String, reason: String) {
        hook("commentRefused")
        refusedComments.put(Pair(id, reason))
    }

    override fun commentsPending(comments: List<CommentOnLines>) {
        hook("commentsPending")
        pendingComments.put(comments)
    }

    override fun agentChanged(core: CompanionCore, change: AgentChange) {
        hook("agentChanged")
        changes.put(change)
    }

    override fun agentCommand(core: CompanionCore, command: AgentCommand) = hook("agentCommand")

    override fun connectedChanged(count: Int) {
        hook("connectedChanged")
        connected.put(count)
    }
}

/** An editor that shows every proposal at once. */
open class ImmediateEditor : EditorRequests {
    override fun openDiff(core: CompanionCore, request: EditorRequest, diff: OpenDiff) = request.complete()

    override fun closeDiff(request: EditorRequest, filePath: String) = request.complete("")

    override fun acceptDiff(request: EditorRequest, filePath: String) = request.complete()

    override fun rejectDiff(request: EditorRequest, filePath: String) = request.complete()

    override fun diagnostics(responder: DiagnosticsResponder, asked: DiagnosticsRequest) =
        responder.complete(Diagnostics())

    override fun unsavedFiles(responder: UnsavedResponder) = responder.complete(emptyList())

    override fun agentWaiting(session: String, message: String) = Unit

    override fun agentFinished(session: String, seconds: Long) = Unit

    override fun reasonLost(filePath: String, reason: String, why: String) = Unit

    override fun commentsDelivered(ids: List<String>) = Unit

    override fun commentRefused(id: String, reason: String) = Unit

    override fun commentsPending(comments: List<CommentOnLines>) = Unit

    override fun agentChanged(core: CompanionCore, change: AgentChange) = Unit

    override fun agentCommand(core: CompanionCore, command: AgentCommand) = Unit

    override fun connectedChanged(count: Int) = Unit
}

class Window(
    val root: Path,
    val requests: RecordingRequests = RecordingRequests(),
    logLevel: LogLevel = LogLevel.INFO,
    configure: (ServerSettings) -> ServerSettings = { it },
    private val logHook: () -> Unit = {},
) : AutoCloseable {
    val log = LinkedBlockingQueue<Pair<Level, String>>()
    val core: CompanionCore

    init {
        NativeLibrary.load(pluginDirectory)
        core = NativeCompanionCore.start(configure(settings(root, logLevel)), requests) { level, message ->
            logHook()
            log.put(level to message)
        }
    }

    /** Waits until a proposal shows, and says that it does. */
    fun show(): Asked = requests.asked.next("openDiff").also { it.request.complete() }

    override fun close() = core.close()

    companion object {
        fun settings(root: Path, logLevel: LogLevel = LogLevel.INFO) =
            ServerSettings(listOf(root.toString()), "jetbrains", "Test", trusted = true, logLevel = logLevel)
    }
}
