// Tests the banner above the editor of a file with a waiting proposal.

package dev.companion.gemini.tabs

import com.intellij.openapi.fileEditor.FileEditor
import com.intellij.ui.EditorNotifications
import dev.companion.gemini.review.DiffTestCase
import javax.swing.JComponent

class TargetBannerTest : DiffTestCase() {
    private fun banner(editor: FileEditor): JComponent? =
        EditorNotifications.EXTENSION_POINT_NAME
            .getExtensions(project)
            .filterIsInstance<TargetBannerProvider>()
            .single()
            .createNotificationPanel(checkNotNull(editor.file), editor)

    fun `test another file has no banner`() {
        file("a.txt", "one")
        propose("a.txt", "two")
        val other = virtualFile(file("b.txt", "one"))
        val editor = myManager.openFile(other, true).single()
        assertNull(banner(editor))
        assertFalse("nothing runs on the EDT for it", TargetBanners.isWanted(project, other))
        assertTrue(TargetBanners.isWanted(project, virtualFile(file("a.txt", "one"))))
    }
}
