// Reports errors in the plugin on the platform of 2018.3.

package dev.companion.gemini.ui

import com.intellij.openapi.diagnostic.IdeaLoggingEvent
import com.intellij.openapi.diagnostic.SubmittedReportInfo
import com.intellij.util.Consumer
import java.awt.Component

internal class CompanionErrorReporter : ErrorReport() {
    override fun submit(
        events: Array<out IdeaLoggingEvent>,
        additionalInfo: String?,
        parentComponent: Component,
        consumer: Consumer<SubmittedReportInfo>,
    ): Boolean {
        consumer.consume(send(events, additionalInfo))
        return true
    }
}
