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

internal class TargetBanners(
    private val project: Project,
    private val open: (Proposal) -> Unit,
) {
    /** Adds and removes banners. EDT. */
    fun update(waiting: List<Proposal>) {
        assertEdt()
        val former = project.getUserData(WAITING).orEmpty()
        val now = HashMap<VirtualFile, Banner>()
        for (proposal in waiting) proposal.target.file?.let { now[it] = Banner(proposal, open) }
        project.putUserData(WAITING, now)
        val banners = EditorNotifications.getInstance(project)
        val changed = (former.keys + now.keys).filter { former[it]?.proposal !== now[it]?.proposal }
        changed.filter(VirtualFile::isValid).forEach(banners::updateNotifications)
    }

    private class Banner(
        val proposal: Proposal,
        private val open: (Proposal) -> Unit,
    ) {
        fun create(): JComponent {
            val panel = EditorNotificationPanel().text(message("diff.target", proposal.position.owner))
            val label = panel.createActionLabel(message("diff.target.open"), Runnable { open(proposal) })
            KeyboardAccess.add(label) { open(proposal) }
            return panel
        }
    }

    companion object {
        private val WAITING = Key.create<Map<VirtualFile, Banner>>("Companion.TargetBanners")

        /** Whether a proposal waits for [file]. Any thread. */
        fun isWanted(project: Project, file: VirtualFile): Boolean =
            project.getUserData(WAITING)?.containsKey(file) == true

        /** The banner for [file], or null if no proposal waits for it. EDT. */
        fun create(project: Project, file: VirtualFile): JComponent? = project.getUserData(WAITING)?.get(file)?.create()
    }
}
