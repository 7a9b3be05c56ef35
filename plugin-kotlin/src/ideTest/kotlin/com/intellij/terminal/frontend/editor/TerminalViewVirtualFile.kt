// Stands in for the files of terminals that are shown as editors.

package com.intellij.terminal.frontend.editor

import com.intellij.terminal.frontend.toolwindow.TerminalToolWindowTab
import com.intellij.terminal.frontend.toolwindow.TerminalView
import com.intellij.testFramework.LightVirtualFile

/** The file of 2025.3. */
class TerminalViewVirtualFile(val terminalView: TerminalView) : LightVirtualFile("cli.txt")

/** The file of newer platforms. */
class NewerTerminalViewVirtualFile(val tab: TerminalToolWindowTab) : LightVirtualFile("cli.txt")

/** The file of the classic terminal. */
class TerminalSessionVirtualFileImpl(val terminalWidget: Any) : LightVirtualFile("cli.txt")
