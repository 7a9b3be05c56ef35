// Writes the report of an error in the plugin, which the IDE offers to send.

package dev.companion.gemini.ui

import com.intellij.ide.browsers.BrowserLauncher
import com.intellij.openapi.diagnostic.ErrorReportSubmitter
import com.intellij.openapi.diagnostic.IdeaLoggingEvent
import com.intellij.openapi.diagnostic.SubmittedReportInfo
import com.intellij.openapi.diagnostic.SubmittedReportInfo.SubmissionStatus
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.platform.copyToClipboard
import dev.companion.gemini.project.ServerFault
import java.net.URI
import java.net.URLEncoder
import java.util.Properties

/**
 * Opens the page for a new issue with the report. If the publisher has no such page, copies the report.
 *
 * Omits messages of exceptions, because they may contain text of a file. Messages of the server never do.
 *
 * The platforms differ in the parameters of `submit`. EDT.
 *
 * @param issues the page, which takes `title` and `body`; empty if there is none
 */
internal abstract class ErrorReport(
    private val issues: String = publisher.getProperty("issues"),
    private val browse: (String) -> Unit = { BrowserLauncher.instance.browse(URI(it)) },
    private val copy: (String) -> Unit = ::copyToClipboard,
) : ErrorReportSubmitter() {
    override fun getReportActionText(): String = message(if (issues.isEmpty()) "report.copy" else "report.open")

    override fun getPrivacyNoticeText(): String = message("report.privacy")

    fun send(events: Array<out IdeaLoggingEvent>, remark: String?): SubmittedReportInfo {
        send(events.mapNotNull { it.throwable }, remark)
        return SubmittedReportInfo(SubmissionStatus.NEW_ISSUE)
    }

    fun send(thrown: List<Throwable>, remark: String?) {
        val text = text(thrown, remark)
        if (issues.isEmpty()) return copy(text)
        val title = thrown.firstOrNull()?.let(::name) ?: message("report.title")
        browse("$issues?title=${encode(title)}&body=${encode(fitting(text))}")
    }

    private fun text(thrown: List<Throwable>, remark: String?): String {
        val stacks = thrown.map { first ->
            generateSequence(first) { it.cause }.take(MAX_CAUSES).joinToString("\nCaused by: ", transform = ::stack)
        }
        val head = listOfNotNull(remark?.takeUnless(String::isBlank), HealthReport.versions())
        return (head + stacks).joinToString("\n\n")
    }

    private fun stack(thrown: Throwable) = (listOf(name(thrown)) + thrown.stackTrace).joinToString("\n    at ")

    private fun name(thrown: Throwable): String {
        val isServers = thrown is ServerFault || thrown.stackTrace.firstOrNull()?.let(::isServers) == true
        return thrown.javaClass.name + if (isServers) ": ${thrown.message}" else ""
    }

    private fun isServers(frame: StackTraceElement) =
        frame.isNativeMethod && frame.className.startsWith("dev.companion.gemini.")

    /** Returns the first lines of [text] that fit into an address. */
    private fun fitting(text: String): String {
        var room = MAX_LENGTH
        val lines = text.lines().takeWhile { line ->
            room -= encode("$line\n").length
            room >= 0
        }
        return lines.joinToString("\n")
    }

    private fun encode(text: String) = URLEncoder.encode(text, Charsets.UTF_8)

    private companion object {
        const val MAX_LENGTH = 6000
        const val MAX_CAUSES = 8

        /** The known facts about the plugin's publisher. */
        val publisher = Properties().apply {
            ErrorReport::class.java.getResourceAsStream("/dev/companion/gemini/publisher.properties").use(::load)
        }
    }
}
