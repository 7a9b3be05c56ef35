// Stands in for a class of today's terminal.

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
