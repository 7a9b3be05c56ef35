// Places the widget in the status bar of the platform of 2018.3.

package dev.companion.gemini.ui

import com.intellij.openapi.project.Project
import com.intellij.openapi.wm.StatusBarWidget
import com.intellij.openapi.wm.StatusBarWidgetProvider

class CompanionStatusBarWidgetProvider : StatusBarWidgetProvider {
    override fun getWidget(project: Project): StatusBarWidget = Widget(project)

    private class Widget(project: Project) : CompanionStatusWidget(project) {
        /** There is none: the widget brings a component of its own. */
        override fun getPresentation(type: StatusBarWidget.PlatformType): StatusBarWidget.WidgetPresentation? = null
    }
}
