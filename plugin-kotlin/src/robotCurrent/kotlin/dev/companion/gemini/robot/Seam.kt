// Calls members that differ in today's platform.

package dev.companion.gemini.robot

import com.intellij.ide.impl.ProjectUtil
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.ex.ActionUtil
import com.intellij.openapi.project.Project
import com.intellij.ui.tabs.TabInfo
import java.nio.file.Paths

internal object Seam {
    /** Only the platform of 2018.3 is measured. */
    val queries: Map<String, Command> = emptyMap()
    val actions: Map<String, Command> = emptyMap()

    /** Returns whether a tab has a pin in place of its X, which the first click takes away. */
    fun hasPin(tab: TabInfo): Boolean = tab.isPinned

    fun openProject(path: String): Project? = ProjectUtil.openOrImport(Paths.get(path), null, false)

    @Suppress("OverrideOnly")
    fun update(action: AnAction, event: AnActionEvent) = action.update(event)

    /** Performs an action, and calls the listeners of actions. */
    fun perform(action: AnAction, event: AnActionEvent) = ActionUtil.performActionDumbAwareWithCallbacks(action, event)
}
