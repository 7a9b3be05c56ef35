// Runs work on the EDT, in the background, in a read action, or so that its failure stops nothing.

package dev.companion.gemini.platform

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.ModalityState
import com.intellij.openapi.diagnostic.Logger
import com.intellij.openapi.editor.event.DocumentEvent
import com.intellij.openapi.editor.event.DocumentListener
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.ThrowableComputable
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.assertEdt
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Future
import java.util.concurrent.TimeUnit

/** The log of the plugin. */
internal val LOG = Logger.getInstance("#dev.companion.gemini")

/** Runs [work] on the EDT, also below a dialog, unless the project has closed. Any thread. */
internal fun Project.later(work: () -> Unit) =
    ApplicationManager.getApplication().invokeLater(work, ModalityState.any(), disposed)

/** Runs [work] on the EDT once no dialog is open, unless the project has closed. Any thread. */
internal fun Project.laterWithoutDialog(work: () -> Unit) =
    ApplicationManager.getApplication().invokeLater(work, Platform.nonModal, disposed)

/** Runs [work] on a background thread. Any thread. */
internal fun inBackground(work: () -> Unit) {
    ApplicationManager.getApplication().executeOnPooledThread(work)
}

/** Runs [work] on a background thread after a time. Any thread. */
internal fun after(millis: Long, work: () -> Unit): Future<*> =
    AppExecutorUtil.getAppScheduledExecutorService().schedule(work, millis, TimeUnit.MILLISECONDS)

/** Returns the result of [look], in a read action. Any thread. */
internal fun <T> reading(look: () -> T): T =
    ApplicationManager.getApplication().runReadAction(ThrowableComputable<T, Exception>(look))

/** Returns the result of [look], in a read action; null if the project has closed. Any thread. */
internal fun <T> Project.ifOpen(look: () -> T): T? = reading { if (isDisposed) null else look() }

/** Calls [changed] after each change of a document, on any thread: background write actions also change documents. */
internal fun documentListener(changed: (DocumentEvent) -> Unit): DocumentListener =
    object : DocumentListener {
        override fun documentChanged(event: DocumentEvent) = changed(event)
    }

/** Runs [work], whose failure must not fail its caller. The IDE's log has the reason, and [failure]. */
@Suppress("TooGenericExceptionCaught")
internal fun loggingFailure(failure: String, work: () -> Unit) =
    try {
        work()
    } catch (e: Exception) {
        LOG.warn(failure, e)
    } catch (e: LinkageError) {
        LOG.warn(CompanionBundle.missing(e))
    }

/** Logs the failure of a task that nobody waits for. */
internal fun CompletableFuture<*>.logFailure() {
    whenComplete { _, failure -> failure?.let(LOG::error) }
}

/** Adds a label to the Local History. If it fails, the IDE's log says so. EDT. */
internal fun Project.labelHistory(name: String) {
    assertEdt()
    loggingFailure("the Local History has no label") { Platform.labelHistory(this, name) }
}
