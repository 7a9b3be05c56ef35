// Calls members that differ in the platform of 2018.3.

package dev.companion.gemini.robot

import com.intellij.ide.impl.ProjectUtil
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.ex.ActionUtil
import com.intellij.openapi.project.Project

internal object Seam {
    fun openProject(path: String): Project? = ProjectUtil.openOrImport(path, null, false)

    fun update(action: AnAction, event: AnActionEvent) {
        ActionUtil.performDumbAwareUpdate(false, action, event, true)
    }

    /** Performs an action, and calls the listeners of actions. */
    fun perform(action: AnAction, event: AnActionEvent) =
        ActionUtil.performActionDumbAwareWithCallbacks(action, event, event.dataContext)
}
