// Owns the words and icons for the state of a server.

package dev.companion.gemini.ui

import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.project.CompanionState
import javax.swing.Icon

internal object StatusText {
    fun icon(state: CompanionState): Icon =
        when (state) {
            CompanionState.Off, CompanionState.Starting -> CompanionIcons.OFF
            is CompanionState.Running -> if (state.connected > 0) CompanionIcons.CONNECTED else CompanionIcons.WAITING
            is CompanionState.Failed -> CompanionIcons.FAILED
        }

    fun title(state: CompanionState): String =
        when (state) {
            CompanionState.Off -> message("status.off")
            CompanionState.Starting -> message("status.starting")
            is CompanionState.Running -> connected(state.connected)
            is CompanionState.Failed -> message("status.failed")
        }

    fun tooltip(state: CompanionState): String = message("status.tooltip", title(state))

    /** Loopback first. */
    fun listening(state: CompanionState.Running): String = state.listening.joinToString(", ")

    private fun connected(count: Int) = if (count > 0) message("status.connected", count) else message("status.waiting")
}
