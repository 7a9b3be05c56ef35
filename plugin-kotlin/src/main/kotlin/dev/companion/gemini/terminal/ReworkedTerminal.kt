// Uses the terminal of 2025.3 and newer. 2024.2 lacks its API, so its members are called by name.

package dev.companion.gemini.terminal

import com.intellij.openapi.project.Project
import com.intellij.ui.content.Content
import dev.companion.gemini.disk.systemPath
import java.lang.reflect.InvocationTargetException
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.startCoroutine

/** For the EDT. */
internal object ReworkedTerminal {
    /** A value with its public type, because the class of the value may not be public. */
    private class ReflectedObject(
        private val type: Class<*>,
        val it: Any?,
    ) {
        fun call(name: String, vararg arguments: Any?): ReflectedObject {
            val method = type.methods.find { it.name == name && it.parameterCount == arguments.size }
                ?: throw NoSuchMethodError("${type.name}.$name")
            try {
                return ReflectedObject(method.returnType, method.invoke(it, *arguments))
            } catch (e: InvocationTargetException) {
                throw e.targetException
            }
        }

        /** Calls a suspending member. */
        suspend fun await(name: String): Any? =
            suspendCoroutineUninterceptedOrReturn { continuation -> call(name, continuation).it }

        fun isNamed(name: String) = (it as? Enum<*>)?.name == name
    }

    private class Program(private val view: ReflectedObject) : TabProgram {
        override val terminal = checkNotNull(view.it)

        override fun askWhetherItRuns(then: (Boolean) -> Unit) {
            val asks = suspend { view.await("hasChildProcesses") }
            asks.startCoroutine(Continuation(EmptyCoroutineContext) { then(it.getOrNull() == true) })
        }

        override fun send(text: String) {
            view.call("createSendTextBuilder").call("send", text)
        }
    }

    /** The result of [run]. A tab was opened only with [RUNS]. */
    enum class Outcome {
        RUNS,

        /** The user has chosen another terminal. */
        UNWANTED,

        /** The user has chosen this terminal, but plugins can't open a tab in it, as in 2025.2. */
        UNREACHABLE,
    }

    /** Opens a tab and runs [command] in it, if the user has chosen this terminal. */
    fun run(project: Project, tab: String, command: String): Outcome {
        if (!isWanted()) return Outcome.UNWANTED
        val builder = unlessMissing { tabBuilder(project, tab) } ?: return Outcome.UNREACHABLE
        // If a later step fails, a tab may exist, so the caller must not open another one.
        val opened = builder.call("createTab")
        val view = opened.call("getView")
        CliTabs.remember(project, opened.call("getContent").it as Content, Program(view))
        view.call("createSendTextBuilder").call("shouldExecute").call("send", command)
        return Outcome.RUNS
    }

    private fun isWanted(): Boolean {
        val engine = unlessMissing {
            type("org.jetbrains.plugins.terminal.TerminalOptionsProvider").call("getInstance").call("getTerminalEngine")
        }
        return engine?.isNamed("REWORKED") == true
    }

    private fun tabBuilder(project: Project, name: String) =
        type("com.intellij.terminal.frontend.toolwindow.TerminalToolWindowTabsManager")
            .call("getInstance", project)
            .call("createTabBuilder")
            .call("workingDirectory", project.basePath?.let(::systemPath))
            .call("tabName", name)

    private fun <T> unlessMissing(ask: () -> T): T? =
        try {
            ask()
        } catch (_: ClassNotFoundException) {
            null
        } catch (_: LinkageError) {
            null
        }

    private fun type(name: String) = ReflectedObject(Class.forName(name), null)
}
