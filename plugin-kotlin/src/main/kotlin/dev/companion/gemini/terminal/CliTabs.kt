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

    private val TABS = Key.create<List<CliTab>>("dev.companion.gemini.cli")

    private val Project.tabs get() = getUserData(TABS).orEmpty()

    fun remember(project: Project, content: Content, program: TabProgram) =
        project.putUserData(TABS, project.tabs.filter { it.isOpen } + CliTab(project, content, program))

    /** Returns whether a terminal of the project has the focus. */
    fun hasFocus(project: Project): Boolean {
        val windows = ToolWindowManager.getInstance(project)
        if (windows.activeToolWindowId == TOOL_WINDOW) return true
        return windows.isEditorComponentActive &&
            FileEditorManager.getInstance(project).selectedFiles.any { terminalIn(it) != null }
    }

    /** Returns the window of the terminals; null if the IDE has none. */
    fun toolWindow(project: Project): ToolWindow? = ToolWindowManager.getInstance(project).getToolWindow(TOOL_WINDOW)

    /**
     * Finds a tab that [CliTerminal.run] opened and whose program still runs, or with [orStarts] may be about to start.
     * Calls [then] on the EDT with it, or with null. [now] is a time of [System.nanoTime].
     */
    fun findRunning(project: Project, orStarts: Boolean, now: Long = System.nanoTime(), then: (CliTab?) -> Unit) {
        project.putUserData(TABS, project.tabs.filter { it.isOpen })
        findFirst(project, emptySet(), { orStarts && it.mayStart(now) }, then)
    }

    /** Asks the newest tab that is not in [asked]. The same key, pressed before, may have opened one meanwhile. */
    private fun findFirst(
        project: Project,
        asked: Set<CliTab>,
        mayStart: (CliTab) -> Boolean,
        then: (CliTab?) -> Unit,
    ) {
        val tab = project.tabs.lastOrNull { it !in asked && it.isOpen } ?: return then(null)
        tab.program.askWhetherItRuns { runs ->
            project.later {
                if (runs) tab.hasRun = true
                if (runs || mayStart(tab)) then(tab) else findFirst(project, asked + tab, mayStart, then)
            }
        }
    }

    /** The platform's classes of such files are not for plugins, and differ. So their members are found by name. */
    fun terminalIn(file: VirtualFile): Any? =
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
}

/** Runs a CLI in a terminal of the IDE. Registered only with the Terminal plugin. */
interface CliTerminal {
    /** EDT. Opens a terminal of [project] and runs [command] in it. Returns a note for the user, or null. */
    fun run(project: Project, command: String): String?

    companion object {
        private val EXTENSIONS = ExtensionPointName.create<CliTerminal>("dev.companion.gemini.cliTerminal")

        /** Any thread. Returns null if the IDE has no terminal. */
        fun find(): CliTerminal? = EXTENSIONS.extensionList.firstOrNull()
    }
}

/** A terminal that the plugin has opened for a CLI. EDT. */
internal class CliTab(
    private val project: Project,
    private val content: Content,
    val program: TabProgram,
) {
    /** A time of [System.nanoTime]. */
    private val since = System.nanoTime()

    /** Whether the CLI was seen to run. */
    var hasRun = false

    private val isInToolWindow get() = content.manager?.contents?.contains(content) == true

    /** Null unless the user has moved the tab among the editors. */
    private val file: VirtualFile?
        get() = FileEditorManager.getInstance(project).openFiles.find { CliTabs.terminalIn(it) === program.terminal }

    val isOpen get() = isInToolWindow || file != null

    /** Returns whether the CLI may be about to start. [now] is a time of [System.nanoTime]. */
    fun mayStart(now: Long) = !hasRun && now - since < TimeUnit.SECONDS.toNanos(START_SECONDS)

    /** Shows the terminal and gives it the focus. */
    fun show() {
        if (isInToolWindow) {
            CliTabs.toolWindow(project)?.activate(null)
            content.manager?.setSelectedContent(content, true)
        } else {
            file?.let { FileEditorManager.getInstance(project).openFile(it, true) }
        }
    }

    /** Sends [text] to the program in the terminal. */
    fun send(text: String) = program.send(text)

    private companion object {
        /** The time that a shell and a CLI may need until the CLI runs. */
        const val START_SECONDS = 10L
    }
}
