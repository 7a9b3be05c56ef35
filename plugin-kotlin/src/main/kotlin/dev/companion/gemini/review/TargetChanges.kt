// Detects when the file of a proposal, or a folder above it, is created, deleted or moved.

package dev.companion.gemini.review

import com.intellij.openapi.vfs.newvfs.BulkFileListener
import com.intellij.openapi.vfs.newvfs.events.VFileEvent
import dev.companion.gemini.tabs.Proposal

/** The document, if there is one, reports changes of the text. EDT. */
internal class TargetChanges(
    private val open: Collection<Proposal>,
    private val changed: (Proposal) -> Unit,
) : BulkFileListener {
    override fun after(events: List<VFileEvent>) {
        open.filter { concern(events, it) }.forEach(changed)
    }

    private fun concern(events: List<VFileEvent>, proposal: Proposal): Boolean {
        val path = proposal.target.systemIndependentPath
        val file = proposal.target.file ?: return events.any { isOrIsAbove(it.path, path) }
        val isWithoutDocument = proposal.target.document == null
        return !file.isValid || file.path != path || (isWithoutDocument && events.any { it.file == file })
    }

    private fun isOrIsAbove(changed: String, path: String) =
        path.startsWith(changed) && (path.length == changed.length || path[changed.length] == '/')
}
