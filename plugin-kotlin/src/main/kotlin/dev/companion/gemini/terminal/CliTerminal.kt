// Declares the terminal of the IDE for the rest of the plugin.

package dev.companion.gemini.terminal

import com.intellij.openapi.extensions.ExtensionPointName
import com.intellij.openapi.project.Project

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
