// Calls members that differ in today's platform.

package dev.companion.gemini.robot

import com.intellij.ide.impl.ProjectUtil
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.ex.ActionUtil
import com.intellij.openapi.project.Project
import java.nio.file.Paths

internal object Seam {
    fun openProject(path: String): Project? = ProjectUtil.openOrImport(Paths.get(path), null, false)

    @Suppress("OverrideOnly")
    fun update(action: AnAction, event: AnActionEvent) = action.update(event)

    /** Performs an action, and calls the listeners of actions. */
    fun perform(action: AnAction, event: AnActionEvent) = ActionUtil.performActionDumbAwareWithCallbacks(action, event)
}
