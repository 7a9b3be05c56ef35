// Tests that applied settings take effect while the settings dialog is still open.

package dev.companion.gemini.project

import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.util.io.FileUtil
import com.intellij.openapi.vfs.LocalFileSystem
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.belowDialog
import dev.companion.gemini.core.LogLevel
import java.io.File
import java.util.concurrent.CopyOnWriteArrayList

class ApplyTest : ServiceTestCase() {
    private val cores = CopyOnWriteArrayList<RecordingCore>()

    override fun setUp() {
        super.setUp()
        val file = File(FileUtil.createTempDirectory("apply", null), "seen.txt").also { it.writeText("one\n") }
        val found = checkNotNull(LocalFileSystem.getInstance().refreshAndFindFileByIoFile(file))
        FileEditorManager.getInstance(project).openFile(found, true)
        serviceWith { _, _ -> RecordingCore().also(cores::add) }.start()
        await { isSent("opened") }
        cores.single().forget()
    }

    /** Whether the last server has got this message about the file. */
    private fun isSent(message: String) =
        cores.lastOrNull()?.calls.orEmpty().any { it.startsWith(message) && "seen.txt" in it }

    fun testCLIsForgetTheFilesAndGetThemAgainWithoutARestart() =
        belowDialog {
            set { context = false }
            await { isSent("closed") }
            cores.single().forget()
            set { context = true }
            await { isSent("opened") }
            assertEquals(1, cores.size)
        }

    fun testAServerThatRestartsGetsTheFiles() =
        belowDialog {
            set { logLevel = LogLevel.DEBUG }
            await { cores.size == 2 && isSent("opened") }
        }
}
