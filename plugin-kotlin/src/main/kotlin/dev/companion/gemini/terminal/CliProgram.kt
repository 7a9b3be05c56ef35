// Finds the program of a CLI.

package dev.companion.gemini.terminal

import com.intellij.openapi.util.SystemInfo
import com.intellij.util.EnvironmentUtil
import java.nio.file.Files
import java.nio.file.InvalidPathException
import java.nio.file.Paths

/** Any thread except the EDT, because folders on the PATH may be on drives that do not answer. */
object CliProgram {
    const val INSTALLATION = "npm install -g @google/gemini-cli"

    private const val CLI = "gemini"

    /**
     * Returns whether a terminal's shell runs in WSL, judged by its folder, by `wsl.exe`, or by the name of a Linux
     * program. In WSL the paths and addresses of Windows are wrong.
     */
    fun isInWsl(folder: String?, shell: List<String>, isWindows: Boolean = SystemInfo.isWindows): Boolean {
        if (!isWindows) return false
        val program = shell.firstOrNull().orEmpty().replace('\\', '/')
        val name = program.substringAfterLast('/').lowercase().removeSuffix(".exe")
        return isWslFolder(folder) || name == "wsl" || program.startsWith("/")
    }

    private fun isWslFolder(folder: String?): Boolean {
        val path = folder.orEmpty().replace('\\', '/').lowercase()
        return path.startsWith("//wsl$/") || path.startsWith("//wsl.localhost/")
    }

    /** Returns whether a shell of this machine would not find the program of [command]. */
    fun isMissing(command: String, folder: String?): Boolean =
        isMissing(command, EnvironmentUtil.getValue("PATH").orEmpty(), SystemInfo.isWindows) &&
            !isInWsl(folder, emptyList())

    internal fun isMissing(command: String, path: String, isWindows: Boolean): Boolean {
        if (command.trim().substringBefore(' ') != CLI) return false
        val names = if (isWindows) listOf("cmd", "exe", "ps1", "bat").map { "$CLI.$it" } else listOf(CLI)
        val folders = path.split(if (isWindows) ';' else ':').filter(String::isNotEmpty)
        return folders.none { folder -> names.any { isFile(folder, it) } }
    }

    private fun isFile(folder: String, name: String): Boolean =
        try {
            Files.isRegularFile(Paths.get(folder, name))
        } catch (_: InvalidPathException) {
            false // the user's own PATH may have any program
        }
}
