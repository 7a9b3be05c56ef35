// Runs work on the EDT after the present event.

package dev.companion.gemini.platform

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.ModalityState
import com.intellij.openapi.project.Project

/** Runs [work] on the EDT, also below a dialog, unless the project has closed. Any thread. */
internal fun Project.later(work: () -> Unit) =
    ApplicationManager.getApplication().invokeLater(work, ModalityState.any(), disposed)

/** Runs [work] on the EDT once no dialog is open, unless the project has closed. Any thread. */
internal fun Project.laterWithoutDialog(work: () -> Unit) =
    ApplicationManager.getApplication().invokeLater(work, Platform.nonModal, disposed)
