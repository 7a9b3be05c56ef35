// platform/execution-impl/src/com/intellij/terminal/ui/TerminalWidget.kt, 2022.3

package com.intellij.terminal.ui

import com.jediterm.terminal.TtyConnector

interface TerminalWidget {
    val ttyConnector: TtyConnector?

    fun sendCommandToExecute(shellCommand: String)
}
