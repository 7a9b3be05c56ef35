// Measures the cost of typing and caret moves on the EDT.

package dev.companion.gemini.robot

import com.intellij.ide.DataManager
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.EditorFactory
import com.intellij.openapi.editor.actionSystem.EditorActionManager
import com.intellij.openapi.editor.event.CaretEvent
import com.intellij.openapi.editor.event.CaretListener
import com.intellij.openapi.editor.event.SelectionEvent
import com.intellij.openapi.editor.event.SelectionListener
import com.intellij.openapi.editor.impl.event.EditorEventMulticasterImpl
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.OpenFileDescriptor
import com.intellij.util.ui.UIUtil
import kotlin.random.Random

internal object Typing {
    private const val WARM_UP = 200

    /**
     * Returns the times in ns of [count] caret moves, a tenth as many keys, and as many events in the plugin's
     * handlers.
     */
    fun run(path: String, count: Int): Map<String, List<Long>> {
        val descriptor = OpenFileDescriptor(project(), file(path))
        val editor = checkNotNull(FileEditorManager.getInstance(project()).openTextEditor(descriptor, true))
        val random = Random(1)

        fun anywhere() = random.nextInt(editor.document.textLength)
        return mapOf(
            "keys" to times(count / 10) {
                EditorActionManager.getInstance().typedAction.actionPerformed(
                    editor,
                    'a',
                    DataManager.getInstance().getDataContext(editor.contentComponent),
                )
            },
            "caret moves" to times(count) { editor.caretModel.moveToOffset(anywhere()) },
            "caret handlers" to caretHandlers(editor, count),
            "selection handlers" to selectionHandlers(editor, count, ::anywhere),
        )
    }

    private fun caretHandlers(editor: Editor, count: Int): List<Long> {
        val listeners = ours<CaretListener>()
        val caret = editor.caretModel.primaryCaret
        val position = caret.logicalPosition
        return times(count, ::nothingWaits) {
            listeners.forEach { it.caretPositionChanged(CaretEvent(editor, caret, position, position)) }
            nothingWaits()
        }
    }

    private fun selectionHandlers(editor: Editor, count: Int, anywhere: () -> Int): List<Long> {
        val listeners = ours<SelectionListener>()
        return times(count, ::nothingWaits) {
            listeners.forEach { it.selectionChanged(SelectionEvent(editor, 0, 0, 0, anywhere())) }
            nothingWaits()
        }
    }

    private inline fun <reified T> ours(): List<T> {
        val multicaster = EditorFactory.getInstance().eventMulticaster as EditorEventMulticasterImpl
        return multicaster.listeners.values
            .flatten()
            .distinct()
            .filter { it.javaClass.name.startsWith("dev.companion.gemini.") }
            .filterIsInstance<T>()
    }

    /** Runs the postponed work of handlers. */
    private fun nothingWaits() = UIUtil.dispatchAllInvocationEvents()

    private inline fun times(count: Int, before: () -> Unit = {}, work: () -> Unit): List<Long> {
        repeat(WARM_UP) { work() }
        return List(count) {
            before()
            val start = System.nanoTime()
            work()
            System.nanoTime() - start
        }
    }
}
