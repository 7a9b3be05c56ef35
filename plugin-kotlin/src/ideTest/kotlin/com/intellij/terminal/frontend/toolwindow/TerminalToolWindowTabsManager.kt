// Owns a stand-in for what the terminal of 2025.3 has by this name, behind classes that nobody else can call.

package com.intellij.terminal.frontend.toolwindow

import com.intellij.openapi.project.Project

interface TerminalToolWindowTabsManager {
    fun createTabBuilder(): TerminalToolWindowTabBuilder

    companion object {
        /** What was asked for, in order. */
        val calls = ArrayList<String>()

        @JvmStatic
        fun getInstance(project: Project): TerminalToolWindowTabsManager = Calls(project.name)
    }
}

interface TerminalToolWindowTabBuilder {
    fun workingDirectory(directory: String?): TerminalToolWindowTabBuilder

    fun tabName(name: String?): TerminalToolWindowTabBuilder

    fun createTab(): TerminalToolWindowTab
}

interface TerminalToolWindowTab {
    val view: TerminalView
}

interface TerminalView {
    fun createSendTextBuilder(): TerminalSendTextBuilder
}

interface TerminalSendTextBuilder {
    fun shouldExecute(): TerminalSendTextBuilder

    fun send(text: String)
}

private class Calls(private val project: String) :
    TerminalToolWindowTabsManager,
    TerminalToolWindowTabBuilder,
    TerminalToolWindowTab,
    TerminalView,
    TerminalSendTextBuilder {
    override val view get() = this

    override fun createTabBuilder() = noting(project)

    override fun workingDirectory(directory: String?) = noting("in $directory")

    override fun tabName(name: String?) = noting("tab $name")

    override fun createTab() = this

    override fun createSendTextBuilder() = this

    override fun shouldExecute() = noting("execute")

    override fun send(text: String) {
        noting(text)
    }

    private fun noting(call: String) = also { TerminalToolWindowTabsManager.calls += call }
}
