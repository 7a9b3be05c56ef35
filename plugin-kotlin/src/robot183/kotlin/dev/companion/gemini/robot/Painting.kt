// Measures when the editor of a proposal is created and first painted.

package dev.companion.gemini.robot

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.EditorFactory
import com.intellij.openapi.editor.EditorKind
import com.intellij.openapi.editor.event.EditorFactoryEvent
import com.intellij.openapi.editor.event.EditorFactoryListener
import com.intellij.openapi.editor.markup.CustomHighlighterRenderer
import com.intellij.openapi.editor.markup.HighlighterLayer
import com.intellij.openapi.editor.markup.HighlighterTargetArea

/** For the EDT. Its times are those of [System.nanoTime], which on Linux is every process's monotonic clock. */
internal object Painting : EditorFactoryListener {
    private val times = mutableMapOf<String, Long>()
    private var isWatching = false

    /** Measures the next proposal that is shown. */
    fun watch() {
        times.clear()
        if (!isWatching) {
            EditorFactory.getInstance().addEditorFactoryListener(this, ApplicationManager.getApplication())
        }
        isWatching = true
    }

    fun times(): Map<String, Long> = times.toMap()

    override fun editorCreated(event: EditorFactoryEvent) {
        val editor = event.editor
        if (editor.editorKind == EditorKind.DIFF && !editor.isViewer) watch(editor)
    }

    private fun watch(editor: Editor) {
        record("made")
        val area = HighlighterTargetArea.EXACT_RANGE
        val length = editor.document.textLength
        val mark = editor.markupModel.addRangeHighlighter(0, length, HighlighterLayer.FIRST, null, area)
        mark.customRenderer = CustomHighlighterRenderer { _, _, _ -> record("painted") }
    }

    private fun record(what: String) {
        times.putIfAbsent(what, System.nanoTime())
    }
}
