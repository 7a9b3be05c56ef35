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

/** Keeps messages until a test looks at them. [hook] runs first, on the server's thread, with the name of the message. */
class RecordingEditor(private val hook: (String) -> Unit = {}) : EditorHost {
    val asked = LinkedBlockingQueue<Asked>()
    val proposals = LinkedBlockingQueue<OpenDiff>()
    val connected = LinkedBlockingQueue<Int>()
    val unsaved = LinkedBlockingQueue<UnsavedResponder>()
    val refusedComments = LinkedBlockingQueue<EditorMessage.CommentRefused>()
    val pendingComments = LinkedBlockingQueue<List<CommentOnLines>>()
    val changes = LinkedBlockingQueue<AgentChange>()
    val diagnostics = LinkedBlockingQueue<EditorMessage.FindDiagnostics>()

    override fun receive(core: CompanionCore, message: EditorMessage) {
        hook(message.javaClass.simpleName)
        when (message) {
            is EditorMessage.Open -> open(message)
            is EditorMessage.Close -> asked.put(Asked("closeDiff", message.filePath, null, message.request))
            is EditorMessage.Accept -> asked.put(Asked("acceptDiff", message.filePath, null, message.request))
            is EditorMessage.Reject -> asked.put(Asked("rejectDiff", message.filePath, null, message.request))
            is EditorMessage.FindDiagnostics -> diagnostics.put(message)
            is EditorMessage.ListUnsaved -> unsaved.put(message.responder)
            is EditorMessage.Sessions -> connected.put(message.count)
            is EditorMessage.CommentRefused -> refusedComments.put(message)
            is EditorMessage.CommentsPending -> pendingComments.put(message.comments)
            is AgentChange -> changes.put(message)
            else -> Unit
        }
    }

    private fun open(message: EditorMessage.Open) {
        proposals.put(message.diff)
        asked.put(Asked("openDiff", message.diff.filePath, message.diff.newContent, message.request))
    }
}

/** An editor that shows every proposal at once. */
open class ImmediateEditor : EditorHost {
    override fun receive(core: CompanionCore, message: EditorMessage) =
        when (message) {
            is EditorMessage.Open -> message.request.complete()
            is EditorMessage.Close -> message.request.complete("")
            is EditorMessage.Accept -> message.request.complete()
            is EditorMessage.Reject -> message.request.complete()
            is EditorMessage.FindDiagnostics -> message.responder.complete(Diagnostics())
            is EditorMessage.ListUnsaved -> message.responder.complete(emptyList())
            else -> Unit
        }
}

class Window(
    val root: Path,
    val requests: RecordingEditor = RecordingEditor(),
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
