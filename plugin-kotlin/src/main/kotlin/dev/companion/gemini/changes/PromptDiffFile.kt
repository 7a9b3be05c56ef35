// Represents the tab with all changes of a prompt.

package dev.companion.gemini.changes

import com.intellij.icons.AllIcons
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.command.undo.UndoUtil
import com.intellij.openapi.diff.DiffColors
import com.intellij.openapi.editor.DefaultLanguageHighlighterColors
import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.EditorFactory
import com.intellij.openapi.editor.LogicalPosition
import com.intellij.openapi.editor.colors.EditorColorsManager
import com.intellij.openapi.editor.impl.DocumentMarkupModel
import com.intellij.openapi.editor.markup.HighlighterLayer
import com.intellij.openapi.editor.markup.HighlighterTargetArea
import com.intellij.openapi.editor.markup.MarkupModel
import com.intellij.openapi.editor.markup.RangeHighlighter
import com.intellij.openapi.editor.markup.TextAttributes
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Key
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.PromptKey
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.TabFile
import java.awt.Font

/** For the EDT, except the `val`s. Its name has no text of the prompt, because the platform logs names. */
internal class PromptDiffFile(
    val project: Project,
    val key: PromptKey,
    val title: String,
) : TabFile("prompt ${key.number}", "CLI changes of prompt", { message("changes.diff.type") }, AllIcons.Actions.Diff) {
    val document: Document = EditorFactory.getInstance().createDocument("")

    /** Any thread. The prompt's newest state, shown or being read; null if it has left the list or the tab has closed. */
    @Volatile
    var prompt: PromptChanges? = null

    /** The first words of the title. */
    override val tabTitle = CompanionBundle.shortened(title, MAX_TITLE)

    private var diff = PromptDiff.EMPTY

    init {
        UndoUtil.disableUndoFor(document)
        document.putUserData(KEY, this)
    }

    /** Shows a newer text. The caret stays on its change. */
    fun show(diff: PromptDiff) {
        assertEdt()
        val earlier = this.diff
        val editors = EditorFactory.getInstance().getEditors(document)
        val carets = editors.associateWith { it.caretModel.logicalPosition }
        this.diff = diff
        ApplicationManager.getApplication().runWriteAction { document.setText(diff.text) }
        mark()
        for ((editor, caret) in carets) {
            editor.caretModel.moveToLogicalPosition(LogicalPosition(diff.find(earlier, caret.line), caret.column))
        }
    }

    /** Drops the text. The platform keeps files that were open. */
    fun release() {
        prompt = null
        show(PromptDiff.EMPTY)
    }

    /** The line at the caret of an editor; null if there is none. */
    fun lineAt(editor: Editor): DiffLine? = diff.lines.getOrNull(document.getLineNumber(editor.caretModel.offset))

    /** Colours the lines, in the colours of the present scheme. */
    fun mark() {
        assertEdt()
        val markup = DocumentMarkupModel.forDocument(document, project, true)
        markup.removeAllHighlighters()
        val lines = diff.lines
        var first = 0
        while (first < lines.size) {
            var last = first
            while (last + 1 < lines.size && lines[last + 1].kind == lines[first].kind) last++
            val line = lines[first]
            add(markup, first, last, attributes(line.kind))
            if (line.kind == DiffLine.Kind.HUNK) {
                for (id in HunkAction.IDS) {
                    add(markup, first, first, null).gutterIconRenderer = HunkIcon(this, line, id)
                }
            }
            first = last + 1
        }
    }

    private fun add(markup: MarkupModel, first: Int, last: Int, attributes: TextAttributes?): RangeHighlighter =
        markup.addRangeHighlighter(
            document.getLineStartOffset(first),
            document.getLineEndOffset(last),
            HighlighterLayer.ADDITIONAL_SYNTAX,
            attributes,
            HighlighterTargetArea.LINES_IN_RANGE,
        )

    private fun attributes(kind: DiffLine.Kind): TextAttributes? {
        val scheme = EditorColorsManager.getInstance().globalScheme
        return when (kind) {
            DiffLine.Kind.FILE -> TextAttributes(null, null, null, null, Font.BOLD)
            DiffLine.Kind.SAME -> null
            DiffLine.Kind.REMOVED -> scheme.getAttributes(DiffColors.DIFF_DELETED)
            DiffLine.Kind.ADDED -> scheme.getAttributes(DiffColors.DIFF_INSERTED)
            else -> scheme.getAttributes(DefaultLanguageHighlighterColors.LINE_COMMENT)
        }
    }

    companion object {
        private const val MAX_TITLE = 29
        private val KEY = Key.create<PromptDiffFile>("Companion.PromptDiff")

        /** The file that an editor shows; null if it shows another document. */
        fun of(editor: Editor?): PromptDiffFile? = editor?.document?.getUserData(KEY)
    }
}
