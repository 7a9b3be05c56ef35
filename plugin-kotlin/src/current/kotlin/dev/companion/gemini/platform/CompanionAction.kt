// Declares an action for today's platform.

package dev.companion.gemini.platform

import com.intellij.openapi.actionSystem.ActionUpdateThread
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.project.DumbAware

/** An action of the plugin. Its update must not wait for anything. */
abstract class CompanionAction :
    AnAction(),
    DumbAware {
    /**
     * Whether the update needs the selected files. Today's platform provides the files of a tree only in the
     * background.
     */
    protected open val asksForFiles: Boolean get() = false

    final override fun getActionUpdateThread(): ActionUpdateThread =
        if (asksForFiles) ActionUpdateThread.BGT else ActionUpdateThread.EDT
}
