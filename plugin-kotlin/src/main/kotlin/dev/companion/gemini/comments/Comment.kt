// Keeps a comment that no model has got, or the lines of a draft, and their mark and place in a document.

package dev.companion.gemini.comments

import com.intellij.icons.AllIcons
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.RangeMarker
import com.intellij.openapi.editor.event.DocumentEvent
import com.intellij.openapi.editor.impl.DocumentMarkupModel
import com.intellij.openapi.editor.markup.GutterIconRenderer
import com.intellij.openapi.editor.markup.HighlighterLayer
import com.intellij.openapi.editor.markup.HighlighterTargetArea
import com.intellij.openapi.editor.markup.RangeHighlighter
import com.intellij.openapi.project.DumbAware
import com.intellij.openapi.project.Project
import com.intellij.xml.util.XmlStringUtil
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.CommentOnLines
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.RenamedFile
import dev.companion.gemini.platform.CompanionAction
import javax.swing.Icon

/** For the EDT. Lines are 0-based, unless they are those of [params]. Without a text it is a draft, and has no icon. */
internal class Comment(
    private val project: Project,
    params: CommentOnLines,
    inProposal: Boolean,
) {
    /** The comment for the server, as of the last [follow]. */
    var params = params
        private set

    /** Whether the lines are those of a proposal, and not of its file. */
    var inProposal = inProposal
        private set

    private var mark: RangeHighlighter? = null

    /** Outlives the mark when another program replaces the text: a diff of the texts moves it. */
    private var marker: RangeMarker? = null

    /** Whether another program has replaced a text that begins or ends within the lines. */
    @Volatile
    private var isCut = false

    /** The text in which its lines were looked for last; null once they have a mark. */
    var searched: CharSequence? = null

    /** The document with the mark. */
    val document: Document? get() = mark?.document

    private val range: RangeMarker? get() = mark?.takeIf { it.isValid } ?: marker

    /** The marked lines, or those that the server has. */
    val lines: IntRange get() = range?.let(::linesOf) ?: params.line - 1..params.endLine - 1

    /** A draft at [place]. */
    constructor(project: Project, place: CommentPlace) :
        this(project, CommentOnLines("", place.path, 1, 1, "", ""), place.inProposal) {
        moveTo(place)
    }

    fun moveTo(place: CommentPlace) {
        mark(place.document, place.lines)
        become(place)
    }

    private fun become(place: CommentPlace) {
        val (lines, content) = Pair(place.lines, LineContent.of(place.document, place.lines))
        inProposal = place.inProposal
        params = params.copy(path = place.path, line = lines.first + 1, endLine = lines.last + 1, content = content)
    }

    /** Marks lines in the gutter of all editors that show the document. */
    fun mark(document: Document, lines: IntRange) {
        assertEdt()
        unmark()
        val highlighter = markup(document).addRangeHighlighter(
            document.getLineStartOffset(lines.first),
            document.getLineEndOffset(lines.last),
            HighlighterLayer.LAST,
            null,
            HighlighterTargetArea.LINES_IN_RANGE,
        )
        if (params.text.isNotEmpty()) highlighter.gutterIconRenderer = CommentIcon(project, this)
        mark = highlighter
        marker = document.createRangeMarker(highlighter.startOffset, highlighter.endOffset, true)
        searched = null
    }

    fun unmark() {
        assertEdt()
        mark?.let { markup(it.document).removeHighlighter(it) }
        mark = null
        marker = null
        isCut = false
    }

    /**
     * Notices that a whole text has been replaced, on the thread of the change. The platform replaces only the
     * characters that differ, and leaves the mark on the rest of its lines, or on what is like the rest.
     */
    fun replaced(event: DocumentEvent) {
        val document = event.document
        val range = range?.takeIf { it.document === document } ?: return
        val lines = linesOf(range) ?: return
        val ends = listOf(event.offset, event.offset + event.newLength)
        if (!isWhole(range, lines) && ends.any { document.getLineNumber(it) in lines }) isCut = true
    }

    /**
     * Follows the mark in [document], which has the text of the file or proposal [path]. Without a mark it keeps the
     * lines. Returns whether they have changed.
     */
    fun follow(document: Document?, path: String, isProposal: Boolean): Boolean {
        val old = params
        val marked = range?.takeUnless { isCut }?.let(::linesOf)
        val count = old.endLine - old.line + 1
        if (document == null || document !== this.document || marked == null) {
            // As many lines as the content has, which is looked for.
            marked?.first?.let { params = old.copy(line = it + 1, endLine = it + count) }
            unmark()
        } else {
            val lines = LineContent.own(document, marked, old.content, count)
            // A mark does not grow with what the user types at an end of its lines.
            if (mark?.takeIf { it.isValid && isWhole(it, lines) } == null) mark(document, lines)
            become(CommentPlace(document, path, isProposal, lines))
        }
        return params != old
    }

    /** Follows a file or folder to its new path. Returns whether the comment is on that file, or in that folder. */
    fun follow(renamed: RenamedFile): Boolean {
        val path = renamed.newPathOf(params.path) ?: return false
        params = params.copy(path = path)
        return true
    }

    private fun markup(document: Document) = DocumentMarkupModel.forDocument(document, project, true)

    companion object {
        private fun isWhole(marker: RangeMarker, lines: IntRange) =
            marker.startOffset == marker.document.getLineStartOffset(lines.first) &&
                marker.endOffset == marker.document.getLineEndOffset(lines.last)

        /** Returns null if the lines have been deleted. */
        fun linesOf(marker: RangeMarker): IntRange? {
            if (!marker.isValid) return null
            val document = marker.document
            return document.getLineNumber(marker.startOffset)..document.getLineNumber(marker.endOffset)
        }
    }
}

/** Shows a comment in the gutter. The tooltip is the comment. A click edits it. */
internal class CommentIcon(
    private val project: Project,
    private val comment: Comment,
) : GutterIconRenderer(),
    DumbAware {
    override fun getIcon(): Icon = AllIcons.General.Balloon

    override fun getTooltipText(): String =
        XmlStringUtil.escapeString(message("comment.tooltip", comment.params.text)).replace("\n", "<br>")

    override fun isNavigateAction() = true

    override fun getClickAction(): AnAction =
        object : CompanionAction() {
            override fun actionPerformed(event: AnActionEvent) {
                val editor = event.getData(CommonDataKeys.EDITOR) ?: return
                CommentPopup.show(project, editor, comment)
            }
        }

    override fun equals(other: Any?) = other is CommentIcon && other.comment === comment

    override fun hashCode() = comment.params.id.hashCode()
}

internal class CommentPlace(
    val document: Document,
    /** The path of the file, or of the proposal, for the server. */
    val path: String,
    val inProposal: Boolean,
    /** 0-based. */
    val lines: IntRange,
) {
    /** Returns the place of these lines, or of the nearest ones. */
    fun at(lines: IntRange): CommentPlace {
        val last = maxOf(document.lineCount - 1, 0)
        return CommentPlace(document, path, inProposal, minOf(lines.first, last)..minOf(lines.last, last))
    }
}
