// Places the widget in the status bar of today's platform.

package dev.companion.gemini.ui

import com.intellij.openapi.project.Project
import com.intellij.openapi.wm.StatusBarWidget
import com.intellij.openapi.wm.StatusBarWidgetFactory
import dev.companion.gemini.CompanionBundle

class CompanionStatusBarWidgetFactory : StatusBarWidgetFactory {
    override fun getId(): String = CompanionStatusWidget.ID

    override fun getDisplayName(): String = CompanionBundle.message("status.display.name")

    override fun createWidget(project: Project): StatusBarWidget = Widget(project)

    private class Widget(project: Project) : CompanionStatusWidget(project)
}
