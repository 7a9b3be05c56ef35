// Stands for the tab of a proposal. It is in memory only, so no tab comes back after a restart.

package dev.companion.gemini.tabs

import com.intellij.openapi.fileTypes.FileType
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.testFramework.LightVirtualFile
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.ProposalKind
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.review.Proposal
import dev.companion.gemini.target.ShownPath
import java.nio.file.Paths
import javax.swing.Icon

/** The tab of the proposals for one path: a later one replaces an earlier one in it. For the EDT, but for the `val`s. */
class ProposalFile internal constructor(
    /** The file that the proposal is for, as the CLI wrote it. */
    val targetPath: String,
    icon: Icon?,
    /** Called after the last tab closed, with whether the user closed it. */
    private val tabGone: (ProposalFile, Boolean) -> Unit,
) : LightVirtualFile(shownName(targetPath), ProposalFileType(icon), "") {
    /** The content of the tab; set before the tab opens. */
    internal var proposal: Proposal? = null
        set(value) {
            field = value
            editors.forEach(ProposalEditor::showProposal)
        }

    /** More than one if the user splits the tab. */
    internal val editors = mutableListOf<ProposalEditor>()

    /** Whether the tab that is about to go is closed by the user. */
    internal var isClosedByUser = false

    /** The tab's title, unique among the tabs. */
    @Volatile
    internal var title: String = shownName(targetPath)
        private set

    /** The proposal's. */
    @Volatile
    internal var kind = ProposalKind.CHANGE
        private set

    init {
        isWritable = false
        Platform.forbidPreview(this)
    }

    /** Returns whether that is news. */
    internal fun rename(title: String, kind: ProposalKind): Boolean {
        assertEdt()
        if (this.title == title && this.kind == kind) return false
        this.title = title
        this.kind = kind
        return true
    }

    internal fun editorGone(editor: ProposalEditor) {
        assertEdt()
        editors -= editor
        val byUser = isClosedByUser
        isClosedByUser = false
        if (editors.isEmpty()) tabGone(this, byUser)
    }

    internal companion object {
        fun shownName(path: String): String = ShownPath.plain(Paths.get(path).fileName.toString())
    }
}

/**
 * Looks like the target's type, but is none that another plugin knows: nobody else opens a tab, indexes or highlights a
 * [ProposalFile].
 */
private class ProposalFileType(private val icon: Icon?) : FileType {
    override fun getName() = "CLI proposal"

    override fun getDescription(): String = CompanionBundle.message("diff.type")

    override fun getDefaultExtension() = ""

    override fun getIcon() = icon

    override fun isBinary() = true

    override fun isReadOnly() = true

    override fun getCharset(file: VirtualFile, content: ByteArray): String? = null
}
