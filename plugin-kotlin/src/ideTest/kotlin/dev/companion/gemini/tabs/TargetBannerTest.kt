// Tests the banner above the editor of a file with a waiting proposal.

package dev.companion.gemini.tabs

import com.intellij.openapi.fileEditor.FileEditor
import com.intellij.ui.EditorNotificationPanel
import com.intellij.ui.EditorNotifications
import com.intellij.ui.HyperlinkLabel
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.review.DiffTestCase
import javax.swing.JComponent

class TargetBannerTest : DiffTestCase() {
    private fun banner(editor: FileEditor): JComponent? =
        EditorNotifications.EXTENSION_POINT_NAME
            .getExtensions(project)
            .filterIsInstance<TargetBannerProvider>()
            .single()
            .createNotificationPanel(checkNotNull(editor.file), editor)

    fun `test the file's own editor leads to the proposal until it is decided`() {
        val file = virtualFile(file("a.txt", "one"))
        val editor = myManager.openFile(file, true).single()
        assertNull(banner(editor))
        val view = propose("a.txt", "two")
        myManager.openFile(file, true)
        val banner = banner(editor) as EditorNotificationPanel
        val link = UIUtil.findComponentOfType(banner, HyperlinkLabel::class.java)
        assertEquals("Open proposal", link?.text)
        link?.doClick()
        await("the proposal's tab") { view.file in myManager.selectedFiles }
        view.click("Reject")
        assertNull(banner(editor))
    }

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
