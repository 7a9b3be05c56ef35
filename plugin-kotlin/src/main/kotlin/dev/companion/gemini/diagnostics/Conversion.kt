// Converts the IDE's highlights to diagnostics: severities, positions and plain messages.

package dev.companion.gemini.diagnostics

import com.intellij.codeInsight.daemon.impl.HighlightInfo
import com.intellij.lang.annotation.HighlightSeverity
import com.intellij.openapi.editor.Document
import com.intellij.openapi.util.text.StringUtil
import dev.companion.gemini.core.Diagnostic
import dev.companion.gemini.core.Position
import dev.companion.gemini.core.Range
import dev.companion.gemini.core.Severity
import dev.companion.gemini.platform.CodeAnalysis

/** Converts in a read action. [source] is the source of these diagnostics. */
internal class Conversion(
    private val document: Document,
    private val source: String,
) {
    /** Returns those with the severity [least] or worse, in the order of the text. */
    fun convert(infos: List<HighlightInfo>, least: Severity): List<Diagnostic> =
        infos
            .filter { severity(it.severity) <= least }
            .sortedBy { it.actualStartOffset }
            .mapNotNull { diagnostic(it) }
            .distinct()

    /**
     * An info without a description, such as a color or the mark of the caret, is not a problem.
     */
    private fun diagnostic(info: HighlightInfo): Diagnostic? {
        val message = plain(info.description ?: return null).ifBlank { return null }
        val range = Range(position(info.actualStartOffset), position(info.actualEndOffset))
        return Diagnostic(severity(info.severity), message, range, source, CodeAnalysis.rule(info))
    }

    private fun position(offset: Int): Position {
        val inText = offset.coerceIn(0, document.textLength)
        val line = document.getLineNumber(inText)
        return Position(line + 1, inText - document.getLineStartOffset(line) + 1)
    }

    companion object {
        /** Returns the severity. Typos are hints; a user-defined severity counts as its neighbor. */
        fun severity(severity: HighlightSeverity): Severity =
            when {
                severity >= HighlightSeverity.ERROR -> Severity.ERROR
                severity >= HighlightSeverity.WARNING -> Severity.WARNING
                severity >= HighlightSeverity.WEAK_WARNING -> Severity.INFORMATION
                else -> Severity.HINT
            }

        /** Removes HTML from a description, which should be plain text, but is not in every plugin. */
        private fun plain(description: String): String =
            if (description.startsWith("<html>")) StringUtil.removeHtmlTags(description) else description
    }
}
