// Labels the Local History before a CLI changes files.

package dev.companion.gemini.target

import com.intellij.openapi.diagnostic.Logger
import com.intellij.openapi.project.Project
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.Platform

internal object LocalHistoryLabel {
    private val LOG = Logger.getInstance("#dev.companion.gemini")

    /** Adds a label. If it fails, the IDE's log says so. EDT. */
    @Suppress("TooGenericExceptionCaught")
    fun put(project: Project, name: String) {
        assertEdt()
        try {
            Platform.labelHistory(project, name)
        } catch (e: Exception) {
            LOG.warn("the Local History has no label", e)
        } catch (e: LinkageError) {
            LOG.warn(CompanionBundle.missing(e))
        }
    }
}
