// Measures the cost of the context for caret moves, typing and selections in a large file. It asserts nothing, and
// runs only with -Dcompanion.measure=DIRECTORY, the folder of the plugin with the library.

package dev.companion.gemini.context

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.EditorFactory
import com.intellij.openapi.editor.event.CaretEvent
import com.intellij.openapi.editor.event.CaretListener
import com.intellij.openapi.editor.event.DocumentEvent
import com.intellij.openapi.editor.event.DocumentListener
import com.intellij.openapi.editor.event.SelectionEvent
import com.intellij.openapi.editor.event.SelectionListener
import com.intellij.openapi.util.Disposer
import com.intellij.testFramework.EditorTestUtil
import dev.companion.gemini.core.LogLevel
import dev.companion.gemini.core.NativeCompanionCore
import dev.companion.gemini.core.NativeLibrary
import dev.companion.gemini.core.RecordingEditor
import dev.companion.gemini.core.ServerSettings
import java.lang.management.ManagementFactory
import java.nio.file.Paths

class CaretCost : ContextTestCase() {
    private val thread = ManagementFactory.getThreadMXBean()

    /** The times at the last probe: of the clock, and of the EDT alone, without waiting for the processor. */
    private var began = LongArray(2)
    private var spent = LongArray(2)

    override fun shouldRunTest() = System.getProperty("companion.measure") != null && super.shouldRunTest()

    fun `test what the handlers cost in a file of 50,000 lines`() {
        val line = "    val words = listOf(\"about\", \"sixty\", \"characters\", \"here\")\n"
        val editor = edit(file("a.txt", line.repeat(LINES)))
        val server = server()
        try {
            Probe { began = now() }
            val context = EditorContext(project, server)
            Disposer.register(testRootDisposable, context)
            context.start()
            Probe { now().forEachIndexed { clock, now -> spent[clock] += now - began[clock] } }
            measure(editor)
        } finally {
            server.close()
        }
    }

    private fun measure(editor: Editor) {
        val length = editor.document.textLength
        val caret = editor.caretModel
        report("a caret move") { caret.moveToOffset((it * 977_777L % length).toInt()) }
        report("a typed character") {
            WriteCommandAction.runWriteCommandAction(project) { EditorTestUtil.performTypingAction(editor, 'x') }
        }
        report("a selection of all") { editor.selectionModel.setSelection(it % 100, length) }
        report("a caret move with a selection of all") {
            editor.selectionModel.setSelection(0, length)
            caret.moveToOffset((it * 977_777L % length).toInt())
        }
    }

    private fun report(name: String, action: (Int) -> Unit) {
        val times = List(WARM_UP + TIMES) {
            spent = LongArray(2)
            action(it)
            settle()
            spent
        }.drop(WARM_UP)
        for ((clock, what) in listOf("by the clock", "of the processor").withIndex()) {
            val sorted = times.map { it[clock] }.sorted()
            val (median, high, most) = listOf(TIMES / 2, TIMES * 99 / 100, TIMES - 1).map { sorted[it] / 1000.0 }
            println("$name, time $what: median $median us, p99 $high us, at most $most us")
        }
    }

    private fun now() = longArrayOf(System.nanoTime(), thread.currentThreadCpuTime)

    private fun server() =
        NativeLibrary.load(Paths.get(System.getProperty("companion.measure"))).let {
            val settings = ServerSettings(listOf(project.basePath ?: "/"), "jetbrains", logLevel = LogLevel.OFF)
            NativeCompanionCore.start(settings, RecordingEditor()) { _, _ -> }
        }

    /** Takes the time before or after the handlers, or before or after their postponed work. */
    private inner class Probe(private val take: () -> Unit) :
        CaretListener,
        SelectionListener,
        DocumentListener {
        private var pending = false

        init {
            val editors = EditorFactory.getInstance().eventMulticaster
            editors.addCaretListener(this, testRootDisposable)
            editors.addSelectionListener(this, testRootDisposable)
            editors.addDocumentListener(this, testRootDisposable)
        }

        override fun caretPositionChanged(event: CaretEvent) = event()

        override fun selectionChanged(event: SelectionEvent) = event()

        override fun documentChanged(event: DocumentEvent) = event()

        private fun event() {
            if (!pending) {
                pending = true
                ApplicationManager.getApplication().invokeLater {
                    pending = false
                    take()
                }
            }
            take()
        }
    }

    private companion object {
        const val LINES = 50_000
        const val WARM_UP = 2_000
        const val TIMES = 5_000
    }
}
