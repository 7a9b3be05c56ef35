// Starts a server: loads its library, connects its log, and explains a failure.

package dev.companion.gemini.project

import com.intellij.openapi.application.PathManager
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.EditorHost
import dev.companion.gemini.core.LogLevel
import dev.companion.gemini.core.NativeCompanionCore
import dev.companion.gemini.core.NativeLibrary
import dev.companion.gemini.core.NativeLibraryException
import dev.companion.gemini.core.ServerSettings
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.platform.LOG
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.Paths

/** Reports an internal error in the server's log. Neither the log nor [message] contains user data. */
class ServerFault(message: String) : RuntimeException(message)

internal object ServerLaunch {
    /** Loads a library and writes files, so don't call it on the EDT. */
    fun start(settings: ServerSettings, editor: EditorHost): CompanionCore {
        assertNotEdt()
        NativeLibrary.load(pluginDirectory())
        return NativeCompanionCore.start(settings, editor, ::log)
    }

    /**
     * Returns the error message for the first invalid setting; null if all are valid. Without the library no server
     * runs, which is reported elsewhere.
     */
    fun problem(settings: ServerSettings): String? =
        try {
            NativeLibrary.load(pluginDirectory())
            NativeCompanionCore.problem(settings)
        } catch (e: NativeLibraryException) {
            LOG.warn("The library could not be loaded", e)
            null
        }

    /**
     * Logs [failure] and returns the message for the user. An expected failure, such as a port in use, is a warning.
     * Any other, such as a panic, is an error. The IDE reports errors.
     */
    fun report(failure: Throwable): String {
        val expected = failure is NativeLibraryException || failure is IllegalStateException
        val line = "The companion could not be started"
        if (expected) LOG.warn(line, failure) else LOG.error(line, failure)
        if (failure is LinkageError && failure !is UnsatisfiedLinkError) return CompanionBundle.missing(failure)
        val key = when {
            failure !is NativeLibraryException -> "notification.failed.server"
            failure.restart -> "notification.failed.restart"
            else -> "notification.failed.library"
        }
        return CompanionBundle.message(key, failure.message ?: failure.javaClass.simpleName)
    }

    /**
     * Returns the parent of the jar's folder `lib`. In development the classes have no jar and are in the folder
     * itself.
     */
    private fun pluginDirectory(): Path {
        val classes = PathManager.getJarPathForClass(ServerLaunch::class.java)?.let { Paths.get(it) }
        val folder = if (classes == null || Files.isDirectory(classes)) classes else classes.parent?.parent
        return folder ?: throw NativeLibraryException("The plugin's folder can't be found.")
    }

    /** The settings choose the level, so the IDE's own switch for debug lines does not apply. */
    private fun log(level: LogLevel, message: String) =
        when (level) {
            LogLevel.ERROR -> LOG.error(ServerFault(message))
            LogLevel.WARN -> LOG.warn(message)
            LogLevel.INFO -> LOG.info(message)
            else -> LOG.info("(${level.name.lowercase()}) $message")
        }
}
