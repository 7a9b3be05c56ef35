// platform/execution-impl/src/com/intellij/terminal/ui/TerminalWidget.kt, 2022.3

package com.intellij.terminal.ui

interface TerminalWidget {
    fun sendCommandToExecute(shellCommand: String)
}
