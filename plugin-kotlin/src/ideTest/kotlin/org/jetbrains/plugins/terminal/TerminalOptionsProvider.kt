// Owns a stand-in for what the terminal of today has by this name.

package org.jetbrains.plugins.terminal

enum class TerminalEngine { REWORKED, CLASSIC, NEW_TERMINAL }

class TerminalOptionsProvider {
    val terminalEngine: TerminalEngine get() = engine

    companion object {
        var engine = TerminalEngine.REWORKED

        @JvmStatic
        val instance = TerminalOptionsProvider()
    }
}
