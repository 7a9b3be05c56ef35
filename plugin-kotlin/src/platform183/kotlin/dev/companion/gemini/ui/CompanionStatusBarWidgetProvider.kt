// Places the widget in the status bar of the platform of 2018.3.

package dev.companion.gemini.ui

import com.intellij.openapi.project.Project
import com.intellij.openapi.wm.StatusBarWidget
import com.intellij.openapi.wm.StatusBarWidgetProvider

class CompanionStatusBarWidgetProvider : StatusBarWidgetProvider {
    override fun getWidget(project: Project): StatusBarWidget = Widget(project)

    private class Widget(project: Project) : CompanionStatusWidget(project) {
        /** Returns null, because the widget has its own component. */
        override fun getPresentation(type: StatusBarWidget.PlatformType): StatusBarWidget.WidgetPresentation? = null
    }
}
