// Shows the changed files as a tree: a group for each prompt, the newest first.

package dev.companion.gemini.changes

import com.intellij.openapi.fileTypes.FileTypeManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.vcs.FileStatus
import com.intellij.ui.ColoredTreeCellRenderer
import com.intellij.ui.SimpleTextAttributes
import com.intellij.ui.TreeUIHelper
import com.intellij.ui.treeStructure.Tree
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.ChangeKind
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.target.ShownPath
import java.nio.file.Paths
import java.text.DateFormat
import java.util.Date
import javax.swing.JTree
import javax.swing.tree.DefaultMutableTreeNode
import javax.swing.tree.DefaultTreeModel
import javax.swing.tree.TreePath
import javax.swing.tree.TreeSelectionModel

/** EDT. */
internal class ChangesTree(private val project: Project) : Tree(DefaultTreeModel(DefaultMutableTreeNode())) {
    private val nodes get() = model as DefaultTreeModel
    private val root get() = nodes.root as DefaultMutableTreeNode

    init {
        isRootVisible = false
        // Without the setters, Kotlin would write the fields of JTree, and its UI would not notice.
        setShowsRootHandles(true)
        selectionModel.selectionMode = TreeSelectionModel.DISCONTIGUOUS_TREE_SELECTION
        setCellRenderer(Renderer())
        TreeUIHelper.getInstance().installTreeSpeedSearch(this)
    }

    /** The selected files, without those of selected prompts. */
    val selectedFiles: List<ChangeRow> get() = selected().filterIsInstance<FileNode>().map { it.row }

    /** The prompts that are selected, or have a selected file. */
    val selectedPrompts: List<PromptChanges>
        get() = selected().mapNotNull { it as? PromptNode ?: it.parent as? PromptNode }.map { it.prompt }.distinct()

    /** The selected files, and all files of selected prompts. */
    val selectedRows: List<ChangeRow>
        get() = selected()
            .flatMap { node ->
                when (node) {
                    is FileNode -> listOf(node.row)
                    is PromptNode -> node.prompt.rows
                    else -> emptyList()
                }
            }.distinct()

    private fun selected(): List<DefaultMutableTreeNode> =
        selectionPaths.orEmpty().map { it.lastPathComponent as DefaultMutableTreeNode }

    /** Shows [prompts]. Keeps the selection, and which groups are open. A new group is open. */
    fun show(prompts: List<PromptChanges>) {
        assertEdt()
        val old = groups().associateBy { it.prompt.key }
        if (old.values.map { it.prompt } == prompts) return
        val closed = old.filterValues { !isExpanded(TreePath(it.path)) }.keys
        val selection = selected().map { identity(it) }.toSet()
        root.removeAllChildren()
        for (prompt in prompts) {
            root.add(
                old[prompt.key]?.takeIf { it.prompt === prompt } ?: PromptNode(project, prompt),
            )
        }
        nodes.reload()
        for (group in groups()) if (group.prompt.key !in closed) expandPath(TreePath(group.path))
        if (selection.isEmpty()) return
        val kept = groups().flatMap { listOf(it) + it.files }.filter { identity(it) in selection }
        selectionPaths = kept.map { TreePath(it.path) }.toTypedArray()
    }

    private fun groups(): List<PromptNode> = root.children().asSequence().filterIsInstance<PromptNode>().toList()

    /** Equal for nodes of the same file or prompt at different times. */
    private fun identity(node: DefaultMutableTreeNode): Any =
        when (node) {
            is FileNode -> node.row.prompt to node.row.path
            is PromptNode -> node.prompt.key
            else -> node
        }

    private class PromptNode(
        project: Project,
        val prompt: PromptChanges,
    ) : DefaultMutableTreeNode() {
        val title: String = ShownPath.plain(prompt.title).ifBlank { message("changes.untitled") }
        val time: String = DateFormat.getTimeInstance(DateFormat.SHORT).format(Date(prompt.time))
        val files: List<FileNode> = prompt.rows.map { FileNode(project, it) }

        init {
            files.forEach(::add)
            if (prompt.more > 0) add(DefaultMutableTreeNode(message("changes.more", prompt.more)))
        }

        /** For the speed search. */
        override fun toString() = title
    }

    private class FileNode(
        project: Project,
        val row: ChangeRow,
    ) : DefaultMutableTreeNode() {
        private val path = Paths.get(row.path)
        val name = ShownPath.plain(path.fileName.toString())
        val folder = path.parent?.let { ShownPath.of(project, it) }.orEmpty()

        override fun toString() = name
    }

    private class Renderer : ColoredTreeCellRenderer() {
        override fun customizeCellRenderer(
            tree: JTree,
            value: Any?,
            selected: Boolean,
            expanded: Boolean,
            leaf: Boolean,
            row: Int,
            hasFocus: Boolean,
        ) {
            when (value) {
                is PromptNode -> {
                    append(value.title)
                    val files = message("changes.files", value.files.size + value.prompt.more)
                    append("  ${value.time}  $files", SimpleTextAttributes.GRAYED_ATTRIBUTES)
                }

                is FileNode -> {
                    show(value)
                }

                is DefaultMutableTreeNode -> {
                    append(value.userObject?.toString().orEmpty(), SimpleTextAttributes.GRAYED_ATTRIBUTES)
                }
            }
        }

        private fun show(node: FileNode) {
            val edit = node.row.edit
            icon = FileTypeManager.getInstance().getFileTypeByFileName(node.name).icon
            val name = when {
                edit?.reverted == true -> REVERTED
                else -> SimpleTextAttributes(SimpleTextAttributes.STYLE_PLAIN, status(node.row.kind).color)
            }
            append(node.name, name)
            if (node.folder.isNotEmpty()) append("  ${node.folder}", SimpleTextAttributes.GRAYED_ATTRIBUTES)
            if (edit?.added != null && edit.removed != null) {
                append("  " + message("diff.lines", edit.added, edit.removed))
            }
            remark(node.row)?.let { append("  $it", SimpleTextAttributes.GRAYED_ITALIC_ATTRIBUTES) }
        }

        private fun remark(row: ChangeRow): String? {
            val edit = row.edit ?: return message("changes.remark.command")
            return when {
                edit.reverted -> message("changes.remark.reverted")
                edit.isPrivate -> message("changes.remark.private")
                !edit.revertible -> message("changes.remark.unkept")
                else -> null
            }
        }

        private fun status(kind: ChangeKind): FileStatus =
            when (kind) {
                ChangeKind.CHANGED -> FileStatus.MODIFIED
                ChangeKind.CREATED -> FileStatus.ADDED
                ChangeKind.DELETED -> FileStatus.DELETED
            }
    }

    private companion object {
        val REVERTED =
            SimpleTextAttributes(SimpleTextAttributes.STYLE_STRIKEOUT, SimpleTextAttributes.GRAYED_ATTRIBUTES.fgColor)
    }
}
