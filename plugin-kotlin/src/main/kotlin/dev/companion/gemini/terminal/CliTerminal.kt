// Declares how the rest of the plugin uses a terminal of the IDE.

package dev.companion.gemini.terminal

import com.intellij.openapi.extensions.ExtensionPointName
import com.intellij.openapi.project.Project

/** Runs a CLI in a terminal of the IDE. Registered only together with the Terminal plugin. */
interface CliTerminal {
    /** EDT. Opens a terminal of [project] and runs [command] in it. Returns a remark for the user, or null. */
    fun run(project: Project, command: String): String?

    /**
     * EDT. Calls [then] on the EDT with a terminal that [run] has opened and whose program still
     * runs, or null.
     */
    fun findRunning(project: Project, then: (CliTab?) -> Unit)

    companion object {
        private val EXTENSIONS = ExtensionPointName.create<CliTerminal>("dev.companion.gemini.cliTerminal")

        /** Any thread. Null where there is no terminal. */
        fun find(): CliTerminal? = EXTENSIONS.extensionList.firstOrNull()
    }
}

/** A terminal with a running CLI. EDT. */
interface CliTab {
    /** Brings it to the front, with the focus. */
    fun show()

    /** Sends [text] to the program in it. */
    fun send(text: String)
}
