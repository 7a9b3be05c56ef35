// Changes proposals one after the other, never one within another.

package dev.companion.gemini.review

import com.intellij.openapi.project.Project
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.laterWithoutDialog
import java.util.ArrayDeque

/**
 * The platform may process other events within an operation, for example when it opens a file, and
 * further operations may arrive in these events. They wait for their turn.
 */
internal class ProposalQueue(
    private val project: Project,
    /** Reports the changes of all operations that ran in a row. */
    private val changed: () -> Unit,
) {
    private val waiting = ArrayDeque<() -> Unit>()
    private var isBusy = false

    /** Runs on the EDT in its turn, once no dialog is open. Any thread. */
    fun later(job: () -> Unit) = project.laterWithoutDialog { inTurn(job) }

    /** Runs now, or right after the current operation. EDT. */
    fun inTurn(job: () -> Unit) {
        assertEdt()
        waiting += job
        if (isBusy) return
        isBusy = true
        try {
            do work() while (waiting.isNotEmpty())
        } finally {
            isBusy = false
            // A failure must not stop the following operations.
            if (waiting.isNotEmpty()) later {}
        }
    }

    private fun work() {
        try {
            while (waiting.isNotEmpty()) waiting.remove()()
        } finally {
            changed()
        }
    }
}
