// Calls members that differ in the platform of 2018.3.

package dev.companion.gemini.robot

import com.intellij.ide.impl.ProjectUtil
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.ex.ActionUtil
import com.intellij.openapi.project.Project
import com.intellij.ui.tabs.TabInfo

internal object Seam {
    /** Commands of `cargo xtask bench-ide`, which measures on this platform only. */
    val queries: Map<String, Command> =
        mapOf(
            "time in plugin" to { Sampler.result() },
            "painting" to { Painting.times() },
        )
    val actions: Map<String, Command> =
        mapOf(
            "show plain popups" to { PlainPopup.times(it.number("count")) },
            "take pauses by plugin" to { Sampler.takePauses() },
            "watch painting" to { Painting.watch() },
            "type" to { Typing.run(it.text("path"), it.number("count")) },
        )

    /** Returns whether the first click on the X of a tab only unpins it. Here it closes. */
    @Suppress("UNUSED_PARAMETER")
    fun hasPin(tab: TabInfo): Boolean = false

    fun openProject(path: String): Project? = ProjectUtil.openOrImport(path, null, false)

    fun update(action: AnAction, event: AnActionEvent) {
        ActionUtil.performDumbAwareUpdate(false, action, event, true)
    }

    /** Performs an action, and calls the listeners of actions. */
    fun perform(action: AnAction, event: AnActionEvent) =
        ActionUtil.performActionDumbAwareWithCallbacks(action, event, event.dataContext)
}
