// Shows a banner above the editors of a file while a proposal waits for that file.

package dev.companion.gemini.tabs

import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Key
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.ui.EditorNotificationPanel
import com.intellij.ui.EditorNotifications
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.KeyboardAccess
import javax.swing.JComponent

internal object TargetBanners {
    private val WAITING = Key.create<Map<VirtualFile, Proposal>>("Companion.TargetBanners")

    /** Adds and removes banners. EDT. */
    fun update(project: Project, waiting: List<Proposal>) {
        assertEdt()
        val former = project.getUserData(WAITING).orEmpty()
        val now = HashMap<VirtualFile, Proposal>()
        for (proposal in waiting) proposal.target.file?.let { now[it] = proposal }
        project.putUserData(WAITING, now)
        val banners = EditorNotifications.getInstance(project)
        val changed = (former.keys + now.keys).filter { former[it] !== now[it] }
        changed.filter(VirtualFile::isValid).forEach(banners::updateNotifications)
    }

    /** Whether a proposal waits for [file]. Any thread. */
    fun isWanted(project: Project, file: VirtualFile): Boolean = project.getUserData(WAITING)?.containsKey(file) == true

    /** The banner for [file], or null if no proposal waits for it. EDT. */
    fun create(project: Project, file: VirtualFile): JComponent? {
        val proposal = project.getUserData(WAITING)?.get(file) ?: return null
        val open = { proposal.file.decisions.review(proposal) }
        val panel = EditorNotificationPanel().text(message("diff.target", proposal.position.owner))
        KeyboardAccess.add(panel.createActionLabel(message("diff.target.open"), Runnable(open)), open)
        return panel
    }
}
