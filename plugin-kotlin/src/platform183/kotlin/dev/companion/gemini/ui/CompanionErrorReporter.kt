// Reports errors in the plugin on the platform of 2018.3.

package dev.companion.gemini.ui

import com.intellij.openapi.diagnostic.ErrorReportSubmitter
import com.intellij.openapi.diagnostic.IdeaLoggingEvent
import com.intellij.openapi.diagnostic.SubmittedReportInfo
import com.intellij.openapi.diagnostic.SubmittedReportInfo.SubmissionStatus
import com.intellij.util.Consumer
import dev.companion.gemini.CompanionBundle.message
import java.awt.Component

/** EDT. */
class CompanionErrorReporter : ErrorReportSubmitter() {
    private val report = ErrorReport()

    override fun getReportActionText(): String = report.actionText

    override fun getPrivacyNoticeText(): String = message("report.privacy")

    override fun submit(
        events: Array<out IdeaLoggingEvent>,
        additionalInfo: String?,
        parentComponent: Component,
        consumer: Consumer<SubmittedReportInfo>,
    ): Boolean {
        report.send(events.mapNotNull { it.throwable }, additionalInfo)
        consumer.consume(SubmittedReportInfo(SubmissionStatus.NEW_ISSUE))
        return true
    }
}
