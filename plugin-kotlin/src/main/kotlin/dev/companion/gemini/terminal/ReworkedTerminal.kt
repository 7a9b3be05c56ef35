// Owns the terminal of 2025.3 and newer. 2024.2 lacks its API, so it is asked by name.

package dev.companion.gemini.terminal

import com.intellij.openapi.project.Project
import com.intellij.ui.content.Content
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.startCoroutine

/** For the EDT. */
internal object ReworkedTerminal {
    /** Something that is known by a public type: its own class may be one that nobody else can call. */
    private class Asked(
        private val type: Class<*>,
        val it: Any?,
    ) {
        fun call(name: String, vararg arguments: Any?): Asked {
            val method = type.methods.first { it.name == name && it.parameterCount == arguments.size }
            return Asked(method.returnType, method.invoke(it, *arguments))
        }

        /** Calls what suspends. */
        suspend fun await(name: String): Any? =
            suspendCoroutineUninterceptedOrReturn { continuation -> call(name, continuation).it }

        fun isNamed(name: String) = (it as? Enum<*>)?.name == name
    }

    private class Program(private val view: Asked) : TabProgram {
        override fun askWhetherItRuns(then: (Boolean) -> Unit) {
            val asks = suspend { view.await("hasChildProcesses") }
            asks.startCoroutine(Continuation(EmptyCoroutineContext) { then(it.getOrNull() == true) })
        }

        override fun send(text: String) {
            view.call("createSendTextBuilder").call("send", text)
        }
    }

    /** Opens a tab and runs [command] in it, unless the user has another terminal. Returns whether it did. */
    fun run(project: Project, tab: String, command: String): Boolean =
        try {
            val options = type("org.jetbrains.plugins.terminal.TerminalOptionsProvider").call("getInstance")
            options.call("getTerminalEngine").isNamed("REWORKED") && open(project, tab, command)
        } catch (_: ReflectiveOperationException) {
            false
        } catch (_: NoSuchElementException) {
            false // a method of another platform
        }

    private fun open(project: Project, name: String, command: String): Boolean {
        val manager = type("com.intellij.terminal.frontend.toolwindow.TerminalToolWindowTabsManager")
        val tab = manager
            .call("getInstance", project)
            .call("createTabBuilder")
            .call("workingDirectory", project.basePath)
            .call("tabName", name)
            .call("createTab")
        val view = tab.call("getView")
        view.call("createSendTextBuilder").call("shouldExecute").call("send", command)
        CliTabs.remember(tab.call("getContent").it as Content, Program(view))
        return true
    }

    private fun type(name: String) = Asked(Class.forName(name), null)
}
