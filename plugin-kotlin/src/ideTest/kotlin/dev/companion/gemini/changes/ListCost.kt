// Measures the cost of long lists of changes, and of many comments, on the EDT. It asserts nothing, and runs only with
// -Dcompanion.measure=yes.

package dev.companion.gemini.changes

import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.roots.ProjectRootManager
import com.intellij.openapi.util.Disposer
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.comments.CommentService
import dev.companion.gemini.core.AgentChange
import dev.companion.gemini.core.ChangedFile
import java.lang.management.ManagementFactory

class ListCost : ChangesTestCase() {
    private val thread = ManagementFactory.getThreadMXBean()

    override fun shouldRunTest() = System.getProperty("companion.measure") != null && super.shouldRunTest()

    /** Prints the processor time of some runs. */
    private fun report(name: String, times: Int = 7, work: (Int) -> Unit) {
        val millis = List(times) { round ->
            val begin = thread.currentThreadCpuTime
            work(round)
            (thread.currentThreadCpuTime - begin) / 1e6
        }
        println("measured: $name: " + millis.joinToString(" ") { "%.1f".format(it) } + " ms")
    }

    fun testALongList() {
        val files = { prompt: Int ->
            (1..500).map { ChangedFile(path("p$prompt/f${it / 20}/$it.txt"), revertible = true) }
        }
        for (prompt in 1..100) {
            service.changed(core, AgentChange("s", prompt.toLong(), "prompt $prompt", prompt * 1_000L, files(prompt)))
        }
        UIUtil.dispatchAllInvocationEvents()
        val panel = ChangesPanel(project).also { Disposer.register(testRootDisposable, it) }
        report("a new prompt of 500 files after 100 such prompts") {
            val next = AgentChange("s", 101L + it, "next", 200_000L + it, files(101 + it))
            service.changed(core, next)
            UIUtil.dispatchAllInvocationEvents()
        }
        println("measured: ${panel.tree.rowCount} rows")
    }

    fun testTheFilesOfADeletedFolder() {
        for (number in 1..10_000) write("gone/${number / 100}/$number.txt", "x")
        val folder = virtualFile("gone")
        ProjectRootManager.getInstance(project).fileIndex.iterateContentUnderDirectory(folder) { true }
        report("the files of a deleted folder of 10,000") {
            CommandFiles.filesOf(folder, ProjectRootManager.getInstance(project).fileIndex)
        }
    }

    fun testCommentsInALargeFile() {
        file("a.txt", "    val words = listOf(\"about\", \"sixty\", \"characters\", \"here\")\n".repeat(100_000))
        FileEditorManager.getInstance(project).openFile(virtualFile("a.txt"), true)
        val comments = CommentService.getInstance(project)
        val document = document("a.txt")
        for (number in 0 until 100) {
            val lines = number * 40 until number * 40 + 30
            comments.write(null, checkNotNull(comments.place(document, lines)), "why $number")
        }
        report("100 comments on 30 lines each, after a typed character") {
            WriteCommandAction.runWriteCommandAction(project) { document.insertString(0, "x") }
            val begin = thread.currentThreadCpuTime
            comments.update()
            println("measured: the update alone: ${(thread.currentThreadCpuTime - begin) / 1e6} ms")
        }
        WriteCommandAction.runWriteCommandAction(
            project,
        ) { document.deleteString(0, document.getLineStartOffset(4_000)) }
        report("100 comments whose lines are gone") {
            WriteCommandAction.runWriteCommandAction(project) { document.insertString(0, "x") }
            val begin = thread.currentThreadCpuTime
            comments.update()
            UIUtil.dispatchAllInvocationEvents()
            println("measured: the update alone: ${(thread.currentThreadCpuTime - begin) / 1e6} ms")
        }
        comments.pending().forEach(comments::remove)
        FileEditorManager.getInstance(project).closeFile(virtualFile("a.txt"))
    }
}
