// Finds the CLI's tab, in the terminal's tool window or among the editors.

package dev.companion.gemini.terminal

import com.intellij.openapi.extensions.ExtensionPointName
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Key
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.wm.ToolWindow
import com.intellij.openapi.wm.ToolWindowManager
import com.intellij.ui.content.Content
import dev.companion.gemini.platform.later
import java.util.concurrent.TimeUnit

/** The program in a tab, through the terminal's API. EDT. */
internal interface TabProgram {
    /** The terminal object, which identifies its editor. */
    val terminal: Any

    /** Calls [then] on any thread, with whether the shell runs a program; false if unknown. */
    fun askWhetherItRuns(then: (Boolean) -> Unit)

    fun send(text: String)
}

/**
 * Finds tabs with a running CLI. For the EDT.
 *
 * Ignores a tab whose CLI has ended. Its shell may contain half a command, which a command of the plugin would
 * complete.
 */
internal object CliTabs {
    private const val TOOL_WINDOW = "Terminal"

    private class Remembered(
        val content: Content,
        val program: TabProgram,
    ) {
        /** A time of [System.nanoTime]. */
        private val since = System.nanoTime()

        /** Whether the CLI was seen to run. */
        var hasRun = false

        /** Returns whether the CLI may be about to start. [now] is a time of [System.nanoTime]. */
        fun mayStart(now: Long) = !hasRun && now - since < TimeUnit.SECONDS.toNanos(START_SECONDS)
    }

    /** The time that a shell and a CLI may need until the CLI runs. */
    private const val START_SECONDS = 10L

    private val TABS = Key.create<List<Remembered>>("dev.companion.gemini.cli")

    private val Project.tabs get() = getUserData(TABS).orEmpty()

    fun remember(project: Project, content: Content, program: TabProgram) =
        project.putUserData(TABS, project.tabs + Remembered(content, program))

    /** Returns whether a terminal of the project has the focus. */
    fun hasFocus(project: Project): Boolean {
        val windows = ToolWindowManager.getInstance(project)
        if (windows.activeToolWindowId == TOOL_WINDOW) return true
        return windows.isEditorComponentActive &&
            FileEditorManager.getInstance(project).selectedFiles.any { terminalIn(it) != null }
    }

    /** Returns the window of the terminals; null if the IDE has none. */
    fun toolWindow(project: Project): ToolWindow? = ToolWindowManager.getInstance(project).getToolWindow(TOOL_WINDOW)

    /** See [CliTerminal.findRunning]. [now] is a time of [System.nanoTime]. */
    fun findRunning(project: Project, orStarts: Boolean, now: Long = System.nanoTime(), then: (CliTab?) -> Unit) {
        val tabs = project.tabs.mapNotNull { tab(project, it) }
        project.putUserData(TABS, tabs.map { it.remembered })
        findAmong(project, tabs, { orStarts && it.mayStart(now) }, then)
    }

    private fun findAmong(
        project: Project,
        tabs: List<Tab>,
        mayStart: (Remembered) -> Boolean,
        then: (CliTab?) -> Unit,
    ) {
        val known = project.tabs
        findFirst(project, tabs.reversed(), mayStart) { found ->
            // The same key, pressed before, may have opened a tab meanwhile.
            val later = (project.tabs - known).mapNotNull { tab(project, it) }
            if (found != null || later.isEmpty()) then(found) else findAmong(project, later, mayStart, then)
        }
    }

    private fun findFirst(
        project: Project,
        tabs: List<Tab>,
        mayStart: (Remembered) -> Boolean,
        then: (CliTab?) -> Unit,
    ) {
        val tab = tabs.firstOrNull() ?: return then(null)
        tab.remembered.program.askWhetherItRuns { runs ->
            project.later {
                if (runs) tab.remembered.hasRun = true
                if (runs || mayStart(tab.remembered)) then(tab) else findFirst(project, tabs.drop(1), mayStart, then)
            }
        }
    }

    /** Returns the tab, or null if it has ended. */
    private fun tab(project: Project, remembered: Remembered): Tab? {
        val content = remembered.content
        val isInToolWindow = content.manager?.contents?.contains(content) == true
        if (isInToolWindow) return Tab(remembered) { showContent(project, content) }
        val editors = FileEditorManager.getInstance(project)
        val file = editors.openFiles.find { terminalIn(it) === remembered.program.terminal } ?: return null
        return Tab(remembered) { editors.openFile(file, true) }
    }

    /** The platform's classes of such files are not for plugins, and differ. So their members are found by name. */
    private fun terminalIn(file: VirtualFile): Any? =
        property(file.javaClass, file, "getTerminalWidget")?.second
            ?: property(file.javaClass, file, "getTerminalView")?.second
            ?: property(file.javaClass, file, "getTab")?.let { (type, tab) -> property(type, tab, "getView")?.second }

    /** Returns a property with its type. The class of the value may not be public. */
    private fun property(type: Class<*>, of: Any, name: String): Pair<Class<*>, Any>? =
        try {
            val getter = type.getMethod(name)
            getter.invoke(of)?.let { Pair(getter.returnType, it) }
        } catch (_: ReflectiveOperationException) {
            null
        }

    private fun showContent(project: Project, content: Content) {
        toolWindow(project)?.activate(null)
        content.manager?.setSelectedContent(content, true)
    }

    private class Tab(
        val remembered: Remembered,
        private val bringToFront: () -> Unit,
    ) : CliTab {
        override fun show() = bringToFront()

        override fun send(text: String) = remembered.program.send(text)
    }
}

/** Runs a CLI in a terminal of the IDE. Registered only with the Terminal plugin. */
interface CliTerminal {
    /** EDT. Opens a terminal of [project] and runs [command] in it. Returns a note for the user, or null. */
    fun run(project: Project, command: String): String?

    /**
     * EDT. Finds a terminal that [run] opened and whose program still runs, or with [orStarts] may be about to start.
     * Calls [then] on the EDT with it, or with null.
     */
    fun findRunning(project: Project, orStarts: Boolean, then: (CliTab?) -> Unit)

    companion object {
        private val EXTENSIONS = ExtensionPointName.create<CliTerminal>("dev.companion.gemini.cliTerminal")

        /** Any thread. Returns null if the IDE has no terminal. */
        fun find(): CliTerminal? = EXTENSIONS.extensionList.firstOrNull()
    }
}

/** A terminal with a running CLI. EDT. */
interface CliTab {
    /** Shows the terminal and gives it the focus. */
    fun show()

    /** Sends [text] to the program in the terminal. */
    fun send(text: String)
}
