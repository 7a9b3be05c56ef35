// Tests the conversion of highlights to diagnostics.

package dev.companion.gemini.diagnostics

import com.intellij.codeInsight.daemon.impl.HighlightInfo
import com.intellij.codeInsight.daemon.impl.HighlightInfoType
import com.intellij.lang.annotation.HighlightSeverity
import com.intellij.openapi.editor.DefaultLanguageHighlighterColors
import com.intellij.openapi.editor.impl.DocumentImpl
import com.intellij.testFramework.LightPlatformTestCase
import dev.companion.gemini.core.Position
import dev.companion.gemini.core.Range
import dev.companion.gemini.core.Severity

class ConversionTest : LightPlatformTestCase() {
    private val document = DocumentImpl("one\n\uD83D\uDE00 two\n")

    private fun highlight(
        severity: HighlightSeverity,
        description: String?,
        from: Int = 0,
        to: Int = 3,
    ): HighlightInfo {
        val type = HighlightInfoType.HighlightInfoTypeImpl(severity, DefaultLanguageHighlighterColors.IDENTIFIER)
        val builder = HighlightInfo.newHighlightInfo(type).range(from, to)
        if (description != null) builder.description(description)
        return checkNotNull(builder.createUnconditionally())
    }

    private fun convert(least: Severity, vararg infos: HighlightInfo) =
        Conversion(document, "Test").convert(infos.asList(), least)

    fun `test severities`() {
        val typo = HighlightSeverity("TYPO", HighlightSeverity.INFORMATION.myVal + 5)
        val custom = HighlightSeverity("Blunder", HighlightSeverity.WARNING.myVal + 50)
        val all = listOf(
            HighlightSeverity.ERROR,
            custom,
            HighlightSeverity.WARNING,
            HighlightSeverity.WEAK_WARNING,
            typo,
            HighlightSeverity.INFORMATION,
        ).map { highlight(it, it.name) }.toTypedArray()

        fun converted(least: Severity) = convert(least, *all).joinToString(" ") { "${it.message}=${it.severity}" }
        assertEquals("ERROR=ERROR", converted(Severity.ERROR))
        assertEquals("ERROR=ERROR Blunder=WARNING WARNING=WARNING", converted(Severity.WARNING))
        val usual = "ERROR=ERROR Blunder=WARNING WARNING=WARNING WEAK WARNING=INFORMATION"
        assertEquals(usual, converted(Severity.INFORMATION))
        assertEquals("$usual TYPO=HINT INFORMATION=HINT", converted(Severity.HINT))
    }

    fun `test what says nothing is no problem`() {
        val infos = arrayOf(
            highlight(HighlightInfoType.ELEMENT_UNDER_CARET_SEVERITY, null),
            highlight(HighlightSeverity.ERROR, null),
            highlight(HighlightSeverity.ERROR, " "),
        )
        assertEquals(emptyList<Any>(), convert(Severity.HINT, *infos))
    }

    fun `test a message is plain text`() {
        fun message(description: String) =
            convert(Severity.ERROR, highlight(HighlightSeverity.ERROR, description)).single().message
        assertEquals("'a < b' is no <tag>", message("'a < b' is no <tag>"))
        assertEquals("Expected List<String>", message("<html><body>Expected <b>List&lt;String&gt;</b></body></html>"))
    }

    fun `test positions are 1-based and count UTF-16 units`() {
        fun range(from: Int, to: Int) =
            convert(Severity.ERROR, highlight(HighlightSeverity.ERROR, "x", from, to)).single().range
        assertEquals(Range(Position(1, 1), Position(1, 4)), range(0, 3))
        assertEquals(Range(Position(2, 4), Position(2, 7)), range(7, 10))
        assertEquals(Range(Position(1, 4), Position(2, 1)), range(3, 4))
        assertEquals(Range(Position(3, 1), Position(3, 1)), range(11, 11))
        assertEquals("the text may be shorter by now", Range(Position(3, 1), Position(3, 1)), range(50, 60))
    }

    fun `test an equal problem is reported once, and in the order of the text`() {
        val late = highlight(HighlightSeverity.ERROR, "late", 5, 6)
        val early = highlight(HighlightSeverity.WARNING, "early")
        val again = highlight(HighlightSeverity.WARNING, "early")
        assertEquals(listOf("early", "late"), convert(Severity.HINT, late, early, again).map { it.message })
    }
}
