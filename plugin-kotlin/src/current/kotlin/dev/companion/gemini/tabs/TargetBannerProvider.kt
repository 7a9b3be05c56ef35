// Provides the banner of a waiting proposal to today's platform.

package dev.companion.gemini.tabs

import com.intellij.openapi.fileEditor.FileEditor
import com.intellij.openapi.project.DumbAware
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.ui.EditorNotificationProvider
import java.util.function.Function
import javax.swing.JComponent

class TargetBannerProvider :
    EditorNotificationProvider,
    DumbAware {
    override fun collectNotificationData(
        project: Project,
        file: VirtualFile,
    ): Function<in FileEditor, out JComponent?>? =
        if (TargetBanners.isWanted(project, file)) Function { TargetBanners.create(project, file) } else null
}
