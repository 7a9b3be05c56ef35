// Shows the changed files as a tree: a group for each prompt, the newest first.

package dev.companion.gemini.changes

import com.intellij.openapi.fileTypes.FileTypeManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.vcs.FileStatus
import com.intellij.ui.ColoredTreeCellRenderer
import com.intellij.ui.SimpleTextAttributes
import com.intellij.ui.TreeUIHelper
import com.intellij.ui.treeStructure.Tree
import com.intellij.util.text.DateFormatUtil
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.ChangeKind
import dev.companion.gemini.core.PromptKey
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.target.ShownPath
import java.nio.file.Paths
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
        emptyText.text = message("changes.empty")
        getAccessibleContext().accessibleName = message("toolwindow.stripe.Gemini_CLI_Changes")
        TreeUIHelper.getInstance().installTreeSpeedSearch(this)
    }

    /** The selected files, and those of selected folders, but not those of selected prompts. */
    val selectedFiles: List<ChangeRow> get() = selected().filter { it !is PromptNode }.flatMap { it.rows }.distinct()

    /** The prompts that are selected, or have a selected file. */
    val selectedPrompts: List<PromptChanges>
        get() {
            val prompts = selected().mapNotNull { it.path.filterIsInstance<PromptNode>().singleOrNull()?.prompt }
            return prompts.distinctBy { it.key }
        }

    /** The prompts that are selected themselves. */
    val wholePrompts: List<PromptKey> get() = selected().filterIsInstance<PromptNode>().map { it.prompt.key }

    /** The selected files, and all files of selected folders and prompts. */
    val selectedRows: List<ChangeRow> get() = selected().flatMap { it.rows }.distinct()

    private fun selected(): List<Node> = selectionPaths.orEmpty().mapNotNull { it.lastPathComponent as? Node }

    /** Shows [prompts]. Keeps the selection, and which nodes are open. A new prompt is open, a new folder is not. */
    fun show(prompts: List<PromptChanges>) {
        assertEdt()
        val groups = root.children().asSequence().filterIsInstance<PromptNode>().toList()
        val outdated = groups.filter { group -> prompts.none { it === group.prompt } }
        val closed = outdated.filterNot(::isOpen).map { it.identity }.toSet()
        val open = outdated.flatMap { it.folders }.filter(::isOpen).map { it.identity }.toSet()
        val selection = selected().filter { node -> node.path.any { it in outdated } }.map { it.identity }.toSet()
        outdated.forEach(nodes::removeNodeFromParent)
        for ((index, prompt) in prompts.withIndex()) {
            if (index < root.childCount && (root.getChildAt(index) as PromptNode).prompt === prompt) continue
            val group = PromptNode(project, prompt)
            nodes.insertNodeInto(group, root, index)
            if (index == 0) expandPath(TreePath(root))
            if (group.identity !in closed) expandPath(TreePath(group.path))
            group.folders.filter { it.identity in open }.forEach { expandPath(TreePath(it.path)) }
            val kept = (listOf(group) + group.folders + group.files).filter { it.identity in selection }
            addSelectionPaths(kept.map { TreePath(it.path) }.toTypedArray())
        }
    }

    private fun isOpen(node: Node) = isExpanded(TreePath(node.path))

    private open class Node(
        /** Equal for nodes of the same file, folder or prompt at different times. */
        val identity: Any,
        val rows: List<ChangeRow>,
        private val name: String,
    ) : DefaultMutableTreeNode() {
        /** For the speed search, too. */
        override fun toString() = name
    }

    private class PromptNode(
        project: Project,
        val prompt: PromptChanges,
    ) : Node(prompt.key, prompt.rows, prompt.shownTitle) {
        val files: List<FileNode> = rows.map { FileNode(project, it) }

        /** The folders of many files; else none. */
        val folders: List<FolderNode> =
            if (files.size > MAX_UNGROUPED) {
                files.groupBy { it.folder }.map { (name, files) -> FolderNode(name, files) }
            } else {
                emptyList()
            }

        init {
            folders.ifEmpty { files }.forEach(::add)
            if (prompt.more > 0) add(Node(Pair(prompt.key, null), emptyList(), message("changes.more", prompt.more)))
        }
    }

    private class FolderNode(
        name: String,
        files: List<FileNode>,
    ) : Node(Pair(files.first().row.prompt, name), files.map { it.row }, name) {
        init {
            files.forEach(::add)
        }
    }

    private class FileNode(
        project: Project,
        val row: ChangeRow,
    ) : Node(Pair(row.prompt, row.path), listOf(row), ShownPath.name(row.path)) {
        val folder = Paths.get(row.path).parent?.let { ShownPath.of(project, it) }.orEmpty()
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
                is FileNode -> show(value)
                is FolderNode -> show(value, message("changes.files", value.rows.size))
                is PromptNode -> show(value, details(value.prompt))
                is Node -> append(value.toString(), SimpleTextAttributes.GRAYED_ATTRIBUTES)
            }
        }

        private fun details(prompt: PromptChanges): String {
            val files = message("changes.files", prompt.rows.size + prompt.more)
            return "${DateFormatUtil.formatPrettyDateTime(prompt.time)}  $files"
        }

        private fun show(node: Node, details: String) {
            append(node.toString())
            append("  $details", SimpleTextAttributes.GRAYED_ATTRIBUTES)
        }

        private fun show(node: FileNode) {
            val edit = node.row.edit
            icon = FileTypeManager.getInstance().getFileTypeByFileName(node.toString()).icon
            val name = when {
                edit?.reverted == true -> REVERTED
                else -> SimpleTextAttributes(SimpleTextAttributes.STYLE_PLAIN, status(node.row.kind).color)
            }
            append(node.toString(), name)
            node.row.kindText?.let { append("  $it", SimpleTextAttributes.GRAYED_ATTRIBUTES) }
            val isInFolder = node.parent is FolderNode
            if (node.folder.isNotEmpty() && !isInFolder) {
                append("  ${node.folder}", SimpleTextAttributes.GRAYED_ATTRIBUTES)
            }
            node.row.countsText?.let { append("  $it") }
            node.row.remark?.let { append("  $it", SimpleTextAttributes.GRAYED_ITALIC_ATTRIBUTES) }
        }

        private fun status(kind: ChangeKind): FileStatus =
            when (kind) {
                ChangeKind.CHANGED -> FileStatus.MODIFIED
                ChangeKind.CREATED -> FileStatus.ADDED
                ChangeKind.DELETED -> FileStatus.DELETED
            }
    }

    private companion object {
        /** The most files of a prompt without folders. */
        const val MAX_UNGROUPED = 30
        val REVERTED =
            SimpleTextAttributes(SimpleTextAttributes.STYLE_STRIKEOUT, SimpleTextAttributes.GRAYED_ATTRIBUTES.fgColor)
    }
}
