// Chooses text and icon for the state of a server.

package dev.companion.gemini.ui

import com.intellij.openapi.util.IconLoader
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.project.CompanionState
import javax.swing.Icon

internal object ServerStateText {
    private val OFF = load("statusOff")
    private val WAITING = load("statusWaiting")
    private val CONNECTED = load("statusConnected")
    private val FAILED = load("statusFailed")

    /** Any thread. Loads all icons. Otherwise each is loaded when it is first needed. */
    fun loadIcons() = listOf(OFF, WAITING, CONNECTED, FAILED).forEach(Icon::getIconWidth)

    private fun load(name: String): Icon = IconLoader.getIcon("/icons/$name.svg", ServerStateText::class.java)

    fun icon(state: CompanionState): Icon =
        when (state) {
            is CompanionState.Unwanted, CompanionState.Starting -> OFF
            is CompanionState.Running -> if (state.status.clis.isNotEmpty()) CONNECTED else WAITING
            is CompanionState.Failed -> FAILED
        }

    fun title(state: CompanionState): String =
        when (state) {
            is CompanionState.Unwanted -> message(state.key)
            CompanionState.Starting -> message("status.starting")
            is CompanionState.Running -> connected(state.status.clis.size)
            is CompanionState.Failed -> message("status.failed")
        }

    private fun connected(count: Int) = if (count > 0) message("status.connected", count) else message("status.waiting")
}
