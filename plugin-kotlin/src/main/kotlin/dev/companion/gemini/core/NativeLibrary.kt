// Loads the library from the plugin's own folder, once, and only if its version matches.

package dev.companion.gemini.core

import java.nio.file.Files
import java.nio.file.Path

/**
 * Reports that the library can't be used. The message is for the user.
 *
 * @param restart whether a restart of the IDE helps
 */
class NativeLibraryException(
    message: String,
    cause: Throwable? = null,
    val restart: Boolean = false,
) : RuntimeException(message, cause)

object NativeLibrary {
    private const val DENIED =
        "Java denies libraries. Please add the line --enable-native-access=ALL-UNNAMED by Help | Edit Custom VM Options."

    private var loaded = false

    /**
     * Loads `native/<os>-<arch>/` below [pluginDirectory]. If the library is loaded, this does nothing.
     *
     * A class of the plugin's class loader must call System.load: the JVM looks up natives in the libraries of their
     * class's loader.
     */
    @Synchronized
    fun load(pluginDirectory: Path) {
        if (loaded) return
        val folder = folderName(System.getProperty("os.name"), System.getProperty("os.arch"))
            ?: throw NativeLibraryException("There is no library for this system.")
        val file = pluginDirectory.resolve("native").resolve(folder).resolve(System.mapLibraryName("companion_jni"))
        if (!Files.exists(file)) throw NativeLibraryException("The plugin has no library for $folder.")
        try {
            System.load(file.toAbsolutePath().toString())
        } catch (e: UnsatisfiedLinkError) {
            throw NativeLibraryException("The library for $folder could not be loaded: ${e.message}.", e)
        } catch (e: IllegalCallerException) {
            // This happens in Java 24 and newer, if it is configured to deny native access.
            throw NativeLibraryException(DENIED, e, restart = true)
        }
        check(NativeCore.abiVersion())
        loaded = true
    }

    /** Refuses a library of another version than this class. An interrupted update leaves such a library. */
    internal fun check(abiVersion: Int) {
        if (abiVersion != NativeCore.ABI_VERSION) {
            throw NativeLibraryException(
                "The library is of version $abiVersion, the plugin needs ${NativeCore.ABI_VERSION}.",
                restart = true,
            )
        }
    }

    /** Returns the folder of a system's library; null for an unsupported system. */
    internal fun folderName(osName: String, osArch: String): String? {
        val os = when {
            osName.startsWith("Linux") -> "linux"
            osName.startsWith("Mac") -> "macos"
            osName.startsWith("Windows") -> "windows"
            else -> return null
        }
        val arch = when (osArch) {
            "amd64", "x86_64" -> "x64"
            "aarch64", "arm64" -> "arm64"
            else -> return null
        }
        return "$os-$arch"
    }
}
