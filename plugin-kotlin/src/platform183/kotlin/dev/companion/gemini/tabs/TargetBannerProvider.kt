// Provides the banner of a waiting proposal to the platform of 2018.3.

package dev.companion.gemini.tabs

import com.intellij.openapi.fileEditor.FileEditor
import com.intellij.openapi.project.DumbAware
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Key
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.ui.EditorNotifications
import javax.swing.JComponent

class TargetBannerProvider(private val project: Project) :
    EditorNotifications.Provider<JComponent>(),
    DumbAware {
    override fun getKey(): Key<JComponent> = KEY

    override fun createNotificationPanel(file: VirtualFile, fileEditor: FileEditor): JComponent? =
        TargetBanners.create(project, file)

    private companion object {
        val KEY = Key.create<JComponent>("Companion.TargetBanner")
    }
}
