// Starts a server: finds its library, sets its log, and explains a failure.

package dev.companion.gemini.project

import com.intellij.openapi.application.PathManager
import com.intellij.openapi.diagnostic.Logger
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.EditorRequests
import dev.companion.gemini.core.NativeCompanionCore
import dev.companion.gemini.core.NativeLibrary
import dev.companion.gemini.core.NativeLibraryException
import dev.companion.gemini.core.ServerSettings
import dev.companion.gemini.core.assertNotEdt
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.Paths
import java.util.logging.Level

/**
 * An error in the server's log: a fault of its own. Neither the log nor [message] has user data.
 */
class ServerFault(message: String) : RuntimeException(message)

internal object ServerLaunch {
    private val LOG = Logger.getInstance("#dev.companion.gemini")

    /** Loads a library and writes files: not for the EDT. */
    fun start(settings: ServerSettings, requests: EditorRequests): CompanionCore {
        assertNotEdt()
        NativeLibrary.load(pluginDirectory())
        return NativeCompanionCore.start(settings, requests, ::log)
    }

    /**
     * The error message for the first wrong host of a list in the settings; null if all are right.
     */
    fun hostProblem(list: String): String? = problem(ServerSettings(allowedHosts = CompanionSettings.words(list)))

    /** The same of addresses to listen on. */
    fun addressProblem(list: String): String? = problem(ServerSettings(listen = CompanionSettings.words(list)))

    /** Without the library there is no server; that is reported elsewhere. */
    private fun problem(settings: ServerSettings): String? =
        try {
            NativeLibrary.load(pluginDirectory())
            NativeCompanionCore.problem(settings)
        } catch (e: NativeLibraryException) {
            LOG.warn("The library could not be loaded", e)
            null
        }

    /**
     * Logs [failure] and returns the message for the user. An expected failure, such as a used
     * port, is a warning; any other, such as a panic, is an error. The IDE reports errors.
     */
    fun report(failure: Throwable): String {
        val expected = failure is NativeLibraryException || failure is IllegalStateException
        val line = "The server could not be started"
        if (expected) LOG.warn(line, failure) else LOG.error(line, failure)
        if (failure is LinkageError && failure !is UnsatisfiedLinkError) return CompanionBundle.missing(failure)
        val key = when {
            failure !is NativeLibraryException -> "notification.failed.server"
            failure.restart -> "notification.failed.restart"
            else -> "notification.failed.library"
        }
        return CompanionBundle.message(key, failure.message ?: failure.javaClass.simpleName)
    }

    /** The plugin's jar is in its folder `lib`; classes without a jar, as in development, are in the folder itself. */
    private fun pluginDirectory(): Path {
        val classes = PathManager.getJarPathForClass(ServerLaunch::class.java)?.let { Paths.get(it) }
        val folder = if (classes == null || Files.isDirectory(classes)) classes else classes.parent?.parent
        return folder ?: throw NativeLibraryException("The plugin's folder can't be found.")
    }

    /** How much there is to log is the settings' to say; the IDE's own switch for debug lines is not asked again. */
    private fun log(level: Level, message: String) =
        when (level) {
            Level.SEVERE -> LOG.error(ServerFault(message))
            Level.WARNING -> LOG.warn(message)
            Level.INFO -> LOG.info(message)
            else -> LOG.info("(${level.name.lowercase()}) $message")
        }
}
