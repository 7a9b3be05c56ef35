// Provides a project window without an IDE: a folder, a server, and its editor.

package dev.companion.gemini.core

import java.nio.file.Path
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit

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

/** Keeps messages until a test looks at them. [hook] runs first, on the server's thread, with the name of the message. */
class RecordingEditor(private val hook: (String) -> Unit = {}) : EditorHost {
    val messages = LinkedBlockingQueue<EditorMessage>()

    override fun receive(core: CompanionCore, message: EditorMessage) {
        hook(message.javaClass.simpleName)
        messages.put(message)
    }

    /** Returns the next message of that type. Drops those before it. */
    inline fun <reified T : EditorMessage> next() = messages.until(T::class.java.simpleName) { it is T } as T
}

class Window(
    val root: Path,
    val editor: RecordingEditor = RecordingEditor(),
    logLevel: LogLevel = LogLevel.INFO,
    configure: (ServerSettings) -> ServerSettings = { it },
    private val logHook: () -> Unit = {},
) : AutoCloseable {
    val log = LinkedBlockingQueue<Pair<LogLevel, String>>()
    val core: CompanionCore

    init {
        NativeLibrary.load(pluginDirectory)
        core = NativeCompanionCore.start(configure(settings(root, logLevel)), editor) { level, message ->
            logHook()
            log.put(level to message)
        }
    }

    /** Waits for a proposal, and shows it. */
    fun show(): OpenDiff = editor.next<OpenDiff>().also { it.responder.complete(null) }

    override fun close() = core.close()

    companion object {
        fun settings(root: Path, logLevel: LogLevel = LogLevel.INFO) =
            ServerSettings(listOf(root.toString()), "jetbrains", "Test", trusted = true, logLevel = logLevel)
    }
}
