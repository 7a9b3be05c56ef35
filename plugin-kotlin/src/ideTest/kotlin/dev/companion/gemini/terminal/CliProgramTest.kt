// Tests the search for a CLI, in the terminals of all systems.

package dev.companion.gemini.terminal

import com.intellij.openapi.util.io.FileUtil
import junit.framework.TestCase
import java.io.File

class CliProgramTest : TestCase() {
    private fun isInWsl(folder: String?, vararg shell: String, isWindows: Boolean = true) =
        CliProgram.isInWsl(folder, shell.asList(), isWindows)

    fun testATerminalOnWindowsIsNotInWsl() {
        assertFalse(isInWsl("C:\\Users\\me\\project", "powershell.exe"))
        assertFalse(isInWsl("C:/Users/me/project", "C:\\Program Files\\Git\\bin\\bash.exe", "--login"))
        assertFalse(isInWsl("\\\\server\\share\\project", "cmd.exe"))
        assertFalse(isInWsl("\\\\wsl-backup\\share", "cmd.exe"))
        assertFalse(isInWsl(null))
    }

    fun testATerminalInWslIsKnownByItsFolderOrItsShell() {
        assertTrue(isInWsl("\\\\wsl$\\Debian\\home\\me", "powershell.exe"))
        assertTrue(isInWsl("\\\\wsl.localhost\\Ubuntu\\home\\me", "/bin/bash", "--login"))
        assertTrue(isInWsl("//WSL.localhost/Ubuntu/home/me"))
        assertTrue(isInWsl("C:\\Users\\me", "wsl.exe", "-d", "Ubuntu"))
        assertTrue(isInWsl("C:\\Users\\me", "C:\\Windows\\System32\\WSL.EXE"))
        assertTrue(isInWsl("C:\\Users\\me", "/usr/bin/zsh"))
    }

    fun testNoOtherSystemHasWsl() {
        assertFalse(isInWsl("/home/me/project", "/bin/bash", isWindows = false))
        assertFalse(isInWsl("/home/me/project", "wsl", isWindows = false))
    }

    fun testTheCLIIsLookedForWhereShellsDo() {
        val home = FileUtil.createTempDirectory("cli", null)
        val empty = File(home, "empty").apply { mkdir() }
        val bin = File(home, "bin").apply { mkdir() }
        File(bin, "gemini").writeText("")
        File(bin, "gemini.cmd").writeText("")

        fun isMissing(command: String, vararg path: File, isWindows: Boolean = false) =
            CliProgram.isMissing(command, path.joinToString(if (isWindows) ";" else ":"), isWindows)
        assertFalse(isMissing("gemini --yolo", empty, bin))
        assertFalse(isMissing(" gemini", empty, bin, isWindows = true))
        assertTrue(isMissing("gemini", empty))
        assertTrue(isMissing("gemini --yolo"))
        File(bin, "gemini.cmd").delete()
        assertTrue("a script of another system", isMissing("gemini", bin, isWindows = true))
        FileUtil.delete(home)
    }

    fun testWhatOnlyAShellCanKnowIsLeftToIt() {
        for (command in listOf("npx gemini", "~/bin/gemini", "KEY=1 gemini", "\"my gemini\"", "gemini2")) {
            assertFalse(command, CliProgram.isMissing(command, "", false))
        }
    }
}
