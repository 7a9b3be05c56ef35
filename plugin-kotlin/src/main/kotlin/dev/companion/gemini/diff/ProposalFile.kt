// Owns the file behind a proposal's tab. It lives in memory only, so that no tab comes back after a restart.

package dev.companion.gemini.diff

import com.intellij.openapi.fileTypes.FileType
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.testFramework.LightVirtualFile
import dev.companion.gemini.CompanionBundle
import java.nio.file.Paths
import javax.swing.Icon

/** The tab of the proposals for one path: a later one replaces an earlier one in it. For the EDT, but for [targetPath]. */
class ProposalFile internal constructor(
    /** The file that the proposal is for, as the CLI wrote it. */
    val targetPath: String,
    icon: Icon?,
) : LightVirtualFile(CompanionBundle.message("diff.tab", Paths.get(targetPath).fileName), ProposalFileType(icon), "") {
    /** What the tab shows; set before the tab opens. */
    internal var proposal: Proposal? = null
        set(value) {
            field = value
            editors.forEach(ProposalEditor::showProposal)
        }

    /** More than one if the user splits the tab. */
    internal val editors = mutableListOf<ProposalEditor>()

    init {
        isWritable = false
    }
}

/**
 * Looks like the target's type, but is none that another plugin knows: nobody else opens a tab, indexes or highlights a
 * [ProposalFile].
 */
private class ProposalFileType(private val icon: Icon?) : FileType {
    override fun getName() = "Gemini CLI proposal"

    override fun getDescription(): String = CompanionBundle.message("diff.type")

    override fun getDefaultExtension() = ""

    override fun getIcon() = icon

    override fun isBinary() = true

    override fun isReadOnly() = true

    override fun getCharset(file: VirtualFile, content: ByteArray): String? = null
}
