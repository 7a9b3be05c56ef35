// Tests the report of an error in the plugin.

package dev.companion.gemini.ui

import com.intellij.openapi.diagnostic.ErrorReportSubmitter
import com.intellij.openapi.diagnostic.IdeaLoggingEvent
import com.intellij.openapi.diagnostic.SubmittedReportInfo
import com.intellij.openapi.extensions.Extensions
import com.intellij.openapi.ide.CopyPasteManager
import com.intellij.testFramework.PlatformTestCase
import com.intellij.util.Consumer
import dev.companion.gemini.project.ServerFault
import java.awt.datatransfer.DataFlavor
import java.net.URLDecoder
import javax.swing.JPanel

class ErrorReportTest : PlatformTestCase() {
    private val opened = ArrayList<String>()
    private val copied = ArrayList<String>()

    private fun report(issues: String) = object : ErrorReport(issues, opened::add, copied::add) {}

    fun testWithoutAPageTheTextIsCopied() {
        val thrown = IllegalArgumentException("secret", ServerFault("panic in the companion at a.rs:1"))
        report("").send(listOf(thrown), "I typed.")
        assertEquals(emptyList<String>(), opened)
        val text = copied.single()
        assertTrue(
            text,
            text.startsWith("I typed.\n\nCompanion for Gemini CLI ${System.getProperty("companion.version")}\n"),
        )
        val first = "\njava.lang.IllegalArgumentException\n    at dev.companion.gemini.ui.ErrorReportTest."
        assertTrue(text, first in text)
        val cause = "Caused by: dev.companion.gemini.project.ServerFault: panic in the companion at a.rs:1\n"
        assertTrue(text, cause in text)
        assertFalse("a message may have something of a file in it: $text", "secret" in text)
    }

    fun testThePageForANewIssueIsFilledInAsFarAsAnAddressGoes() {
        var deep = RuntimeException()
        repeat(50) { deep = RuntimeException(deep) }
        report("https://example.org/new").send(listOf(ServerFault("a & b"), deep), null)
        assertEquals(emptyList<String>(), copied)
        val address = opened.single()
        val title = "dev.companion.gemini.project.ServerFault"
        assertTrue(address, address.startsWith("https://example.org/new?title=$title"))
        assertTrue(address.length.toString(), address.length < 7000)
        val body = URLDecoder.decode(address.substringAfter("&body="), "UTF-8")
        assertTrue(body, body.startsWith("Companion for Gemini CLI "))
        assertTrue(body, "ServerFault: a & b\n" in body)
    }

    fun testTheIDEOffersIt() {
        val all = Extensions.getRootArea().getExtensionPoint<ErrorReportSubmitter>("com.intellij.errorHandler")
        val reporter = all.extensions.single { it is CompanionErrorReporter }
        assertEquals("Copy Report", reporter.reportActionText)
        val results = ArrayList<SubmittedReportInfo>()
        val event = IdeaLoggingEvent("secret", ServerFault("fault"))
        assertTrue(reporter.submit(arrayOf(event), null, JPanel(), Consumer { results += it }))
        assertEquals(SubmittedReportInfo.SubmissionStatus.NEW_ISSUE, results.single().status)
        val text = checkNotNull(CopyPasteManager.getInstance().getContents<String>(DataFlavor.stringFlavor))
        assertTrue(text, "ServerFault: fault\n" in text)
        assertFalse(text, "secret" in text)
    }
}
