// Stands in for a class of the terminal of 2025.3. Its objects have classes that are not public.

package com.intellij.terminal.frontend.toolwindow

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.wm.ToolWindowManager
import com.intellij.ui.content.Content
import com.intellij.ui.content.ContentFactory
import javax.swing.JPanel
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.resume

interface TerminalToolWindowTabsManager {
    fun createTabBuilder(): TerminalToolWindowTabBuilder

    companion object {
        /** The calls, in order. */
        val calls = ArrayList<String>()

        /** Returns whether a program runs in a tab, or throws like the terminal. */
        var runs: () -> Boolean = { true }

        /** The last created tab. */
        var last: TerminalToolWindowTab? = null

        /** The name of a missing method. */
        var lacks: String? = null

        @JvmStatic
        fun getInstance(project: Project): TerminalToolWindowTabsManager = Calls(project)
    }
}

interface TerminalToolWindowTabBuilder {
    fun workingDirectory(directory: String?): TerminalToolWindowTabBuilder

    fun tabName(name: String?): TerminalToolWindowTabBuilder

    fun createTab(): TerminalToolWindowTab
}

interface TerminalToolWindowTab {
    val view: TerminalView
    val content: Content
}

interface TerminalView {
    suspend fun hasChildProcesses(): Boolean

    fun createSendTextBuilder(): TerminalSendTextBuilder
}

interface TerminalSendTextBuilder {
    fun shouldExecute(): TerminalSendTextBuilder

    fun send(text: String)
}

private class Calls(private val project: Project) :
    TerminalToolWindowTabsManager,
    TerminalToolWindowTabBuilder,
    TerminalToolWindowTab,
    TerminalView,
    TerminalSendTextBuilder {
    override val view get() = this

    override val content: Content by lazy {
        val manager = checkNotNull(ToolWindowManager.getInstance(project).getToolWindow("Terminal")).contentManager
        ContentFactory.SERVICE.getInstance().createContent(JPanel(), "a terminal", false).also(manager::addContent)
    }

    override fun createTabBuilder(): TerminalToolWindowTabBuilder {
        failIfLacking("createTabBuilder")
        return noting(project.name)
    }

    override fun workingDirectory(directory: String?) = noting("in $directory")

    override fun tabName(name: String?) = noting("tab $name")

    override fun createTab() =
        also {
            it.content
            TerminalToolWindowTabsManager.last = it
        }

    override suspend fun hasChildProcesses(): Boolean {
        val runs = TerminalToolWindowTabsManager.runs
        // Never on the caller's thread, also if the other one is fast: that may be the EDT, which must not wait.
        suspendCoroutineUninterceptedOrReturn<Unit> {
            ApplicationManager.getApplication().executeOnPooledThread { it.resume(Unit) }
            COROUTINE_SUSPENDED
        }
        return runs()
    }

    override fun createSendTextBuilder() = also { failIfLacking("createSendTextBuilder") }

    override fun shouldExecute() = noting("execute")

    override fun send(text: String) {
        noting(text)
    }

    private fun failIfLacking(method: String) {
        if (TerminalToolWindowTabsManager.lacks == method) throw NoSuchMethodError(method)
    }

    private fun noting(call: String) = also { TerminalToolWindowTabsManager.calls += call }
}
