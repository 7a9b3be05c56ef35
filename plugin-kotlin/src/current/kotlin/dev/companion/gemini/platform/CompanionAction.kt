// Declares an action as today's platform wants it.

package dev.companion.gemini.platform

import com.intellij.openapi.actionSystem.ActionUpdateThread
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.project.DumbAware

/** An action of the plugin's. Its update asks for nothing that could wait. */
abstract class CompanionAction :
    AnAction(),
    DumbAware {
    /** Today's platform gives the files of a tree only in the background. */
    protected open val asksForFiles: Boolean get() = false

    final override fun getActionUpdateThread(): ActionUpdateThread =
        if (asksForFiles) ActionUpdateThread.BGT else ActionUpdateThread.EDT
}
