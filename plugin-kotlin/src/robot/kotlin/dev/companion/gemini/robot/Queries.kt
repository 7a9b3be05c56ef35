// Reports tabs, focus, proposals, texts, and positions on the screen.

package dev.companion.gemini.robot

import com.intellij.ide.DataManager
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.EditorFactory
import com.intellij.openapi.editor.EditorKind
import com.intellij.openapi.editor.ex.EditorEx
import com.intellij.openapi.editor.impl.DocumentMarkupModel
import com.intellij.openapi.editor.impl.EditorComponentImpl
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.project.ProjectManager
import com.intellij.openapi.vfs.LocalFileSystem
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.wm.StatusBar
import com.intellij.openapi.wm.impl.status.TextPanel
import com.intellij.ui.EditorNotificationPanel
import com.intellij.ui.HyperlinkLabel
import com.intellij.ui.InplaceButton
import com.intellij.ui.SimpleColoredComponent
import com.intellij.ui.tabs.impl.TabLabel
import java.awt.Component
import java.awt.Container
import java.awt.Dialog
import java.awt.Frame
import java.awt.KeyboardFocusManager
import java.awt.Point
import java.awt.Rectangle
import java.awt.Toolkit
import java.awt.Window
import javax.swing.AbstractButton
import javax.swing.JComboBox
import javax.swing.JComponent
import javax.swing.JLabel
import javax.swing.JList
import javax.swing.JTable
import javax.swing.JTree
import javax.swing.RepaintManager
import javax.swing.SwingUtilities
import javax.swing.plaf.basic.BasicHTML
import javax.swing.text.JTextComponent
import javax.swing.text.View

internal val QUERIES: Map<String, Command> = mapOf(
    "look" to { look() },
    "read" to { command -> read(command.textOrNull("window")) },
    "find text" to { command -> middle(showing { label(it) == command.text("text") }) },
    "find row" to { command -> rowOf(command.text("text")) },
    "find tab" to { startOf(tabLabel(it.text("tab"))) },
    "find close button" to { middle(closeButton(it.text("tab"))) },
    "find proposal" to { inText(proposal(it.text("tab"))) },
    "find arrow" to { arrow() },
    "find icon" to { icon(it.text("line"), it.text("tooltip")) },
    "paint" to { paint() },
)

/** Returns all values that a script can wait for. */
private fun look(): Map<String, Any?> =
    mapOf(
        "projects" to ProjectManager.getInstance().openProjects.map { it.name },
        "windows" to Window.getWindows().filter { it.isShowing }.mapNotNull { title(it) },
        "isActive" to Window.getWindows().any { it.isActive },
        "focus" to focus(),
        "tabs" to tabLabels().map { tab(it) },
        "statusBar" to components().filter { it is StatusBar }.flatMap { texts(it) + tooltips(it) }.toList(),
        "texts" to Window.getWindows().filter { it.isShowing }.flatMap { texts(it) },
        "rows" to trees().flatMap { tree -> rows(tree) }.toList(),
        "tableRows" to (
            allShowing<JTable>().flatMap { table -> rows(table) } +
                allShowing<JList<*>>().flatMap { list -> rows(list) }
        ).toList(),
    )

private fun trees() = allShowing<JTree>()

private inline fun <reified T : Component> allShowing() = components().filterIsInstance<T>().filter { it.isShowing }

/** Returns the rows of a tree, as the user reads them. */
private fun rows(tree: JTree): List<String> = (0 until tree.rowCount).map { rowText(tree, it) }

private fun selection(tree: JTree): List<String> = tree.selectionRows?.map { rowText(tree, it) }.orEmpty()

private fun rowText(tree: JTree, row: Int): String {
    val cell = rowCell(tree, row) as? SimpleColoredComponent
    return cell?.getCharSequence(false)?.toString() ?: tree.getPathForRow(row).lastPathComponent.toString()
}

/** Returns a row's component. It shows this row until the next call. */
private fun rowCell(tree: JTree, row: Int): Component {
    val node = tree.getPathForRow(row).lastPathComponent
    return tree.cellRenderer.getTreeCellRendererComponent(tree, node, false, true, true, row, false)
}

/** Returns the texts of a table's rows. */
private fun rows(table: JTable): List<String> =
    (0 until table.rowCount).map { row ->
        val cells = (0 until table.columnCount).map { table.prepareRenderer(table.getCellRenderer(row, it), row, it) }
        cells.flatMap(::descendants).mapNotNull { label(it) }.joinToString(" ")
    }

/** Returns the texts of a list's rows. */
private fun <T> rows(list: JList<T>): List<String> =
    (0 until list.model.size).map { row ->
        val cell = list.cellRenderer.getListCellRendererComponent(list, list.model.getElementAt(row), row, false, false)
        descendants(cell).mapNotNull { label(it) }.joinToString(" ")
    }

/** Returns the place of the first row that begins with a text, after scrolling to it. */
private fun rowOf(text: String): Map<String, Any> {
    val tree = trees().first { tree -> rows(tree).any { it.startsWith(text) } }
    val row = rows(tree).indexOfFirst { it.startsWith(text) }
    tree.scrollRowToVisible(row)
    val bounds = tree.getRowBounds(row)
    return onScreen(tree, Point(bounds.x + bounds.height / 2, bounds.y + bounds.height / 2))
}

/** Returns the title of a frame or a dialog. Some popups are dialogs without a title. */
private fun title(window: Window): String? =
    when (window) {
        is Frame -> window.title.orEmpty()
        is Dialog -> window.title.orEmpty().takeIf { window.isModal || it.isNotEmpty() }
        else -> null
    }

/** Returns the owner of the focus: an editor, with its file and caret, a tree, with its selection, or something else. */
private fun focus(): Map<String, Any?>? {
    val owner = KeyboardFocusManager.getCurrentKeyboardFocusManager().focusOwner ?: return null
    if (owner is JTree) return mapOf("component" to owner.javaClass.name, "selection" to selection(owner))
    val editor = CommonDataKeys.EDITOR.getData(DataManager.getInstance().getDataContext(owner))
    if (editor == null || editor.contentComponent !== owner) {
        return mapOf(
            "component" to owner.javaClass.name,
            "id" to System.identityHashCode(owner),
            "isButton" to (owner is AbstractButton),
            "name" to owner.accessibleContext?.accessibleName?.takeUnless { it.isEmpty() },
        )
    }
    val caret = editor.caretModel.primaryCaret
    val lineStart = editor.document.getLineStartOffset(caret.logicalPosition.line)
    return mapOf(
        "editor" to editor.editorKind.name,
        "path" to (editor as EditorEx).virtualFile?.path,
        "line" to caret.logicalPosition.line + 1,
        "character" to caret.offset - lineStart + 1,
        "selection" to (caret.selectedText ?: ""),
        "text" to editor.document.text,
    )
}

private fun tabLabels() = components().filterIsInstance<TabLabel>().filter { it.info.`object` is VirtualFile }.toList()

private fun tab(label: TabLabel): Map<String, Any?> {
    val info = label.info
    val shown = info.component
    val diff = EditorFactory.getInstance().allEditors.filter { it.editorKind == EditorKind.DIFF && it isIn shown }
    val right = diff.find { !it.isViewer }
    return mapOf(
        "title" to info.text,
        "path" to (info.`object` as VirtualFile).path,
        "isSelected" to shown.isShowing,
        "hasPin" to Seam.hasPin(info),
        "text" to FileDocumentManager.getInstance().getCachedDocument(info.`object` as VirtualFile)?.text,
        "banners" to descendants(shown).filterIsInstance<EditorNotificationPanel>().map { texts(it) }.toList(),
        "texts" to texts(shown),
        "left" to diff.find { it !== right }?.document?.text,
        "right" to right?.document?.text,
        // About one per difference between the sides, which the platform computes in the background.
        "marks" to right?.markupModel?.allHighlighters?.size,
    )
}

/** Returns the editable side of the proposal in a tab. */
internal fun proposal(title: String): Editor {
    val tab = tabLabel(title).info.component
    val editors = EditorFactory.getInstance().allEditors.filter { it.editorKind == EditorKind.DIFF && it isIn tab }
    return checkNotNull(editors.find { !it.isViewer }) { "$title has no proposal" }
}

internal fun project(): Project = ProjectManager.getInstance().openProjects.single()

/** Returns a file on the disk, in its present state. */
internal fun file(path: String): VirtualFile =
    checkNotNull(LocalFileSystem.getInstance().refreshAndFindFileByPath(path)) { "there is no $path" }

internal fun tabFile(title: String) = tabLabel(title).info.`object` as VirtualFile

internal fun tabLabel(title: String) =
    checkNotNull(tabLabels().find { it.info.text == title }) { "there is no tab $title" }

private fun closeButton(title: String) = descendants(tabLabel(title)).first { it is InplaceButton }

private infix fun Editor.isIn(parent: Component) = SwingUtilities.isDescendingFrom(component, parent)

/** Returns the topmost visible component for which [holds] is true. */
private fun showing(holds: (Component) -> Boolean): Component =
    checkNotNull(components().filter { it.isShowing && holds(it) }.lastOrNull()) { "it does not show" }

private fun middle(component: Component): Map<String, Any> {
    check(component.isShowing) { "it does not show" }
    val visible = (component as JComponent).visibleRect
    check(!visible.isEmpty) { "it is out of sight" }
    return onScreen(component, Point(visible.centerX.toInt(), visible.centerY.toInt()))
}

/** Returns a point at the start of the component, away from buttons at its end. */
private fun startOf(component: Component): Map<String, Any> {
    check(component.isShowing) { "it does not show" }
    val start = Point(component.height, component.height / 2)
    check((component as JComponent).visibleRect.contains(start)) { "it is out of sight" }
    return onScreen(component, start)
}

/** Returns the point where a click moves the caret to the start of the text. */
private fun inText(editor: Editor): Map<String, Any> {
    val start = editor.offsetToXY(0)
    return onScreen(editor.contentComponent, Point(start.x + 1, start.y + editor.lineHeight / 2))
}

/** Returns the place of the first arrow from the left side of a diff to the right one. */
private fun arrow(): Map<String, Any> {
    val editors = EditorFactory.getInstance().allEditors.filter { it.editorKind == EditorKind.DIFF }
    val left = editors.first { !it.document.isWritable && it.component.isShowing } as EditorEx
    val gutter = left.gutterComponentEx
    val arrows = left.markupModel.allHighlighters.sortedBy { it.startOffset }.mapNotNull { it.gutterIconRenderer }
    val center = checkNotNull(arrows.firstNotNullOfOrNull { gutter.getCenterPoint(it) }) { "no arrow" }
    // The left side has its gutter on the right, as in a mirror.
    return onScreen(gutter, Point(gutter.width - center.x, center.y))
}

/** Returns the place of an icon in the gutter of a line in a read-only editor. Its tooltip begins with [tooltip]. */
private fun icon(line: String, tooltip: String): Map<String, Any> {
    val editors = EditorFactory.getInstance().allEditors.filter { it.isViewer && it.component.isShowing }
    val editor = editors.first { line in it.document.text.lines() } as EditorEx
    val offset = editor.document.getLineStartOffset(editor.document.text.lines().indexOf(line))
    val marks = checkNotNull(DocumentMarkupModel.forDocument(editor.document, project(), false)) { "no marks" }
    val icons = marks.allHighlighters.filter { it.startOffset == offset }.mapNotNull { it.gutterIconRenderer }
    val icon = icons.single { it.tooltipText.orEmpty().startsWith(tooltip) }
    val place = checkNotNull(editor.gutterComponentEx.getCenterPoint(icon)) { "the icon does not show" }
    return onScreen(editor.gutterComponentEx, place)
}

private fun onScreen(component: Component, point: Point): Map<String, Any> {
    SwingUtilities.convertPointToScreen(point, component)
    // Swing considers the component visible, but another window may still cover it.
    return mapOf("x" to point.x, "y" to point.y, "isPointedAt" to (component.mousePosition != null))
}

/** Paints all changes, so that a picture of the screen shows them. */
private fun paint() {
    Window.getWindows().filter { it.isShowing }.forEach { window ->
        descendants(
            window,
        ).filterIsInstance<JComponent>().forEach { RepaintManager.currentManager(it).paintDirtyRegions() }
    }
    Toolkit.getDefaultToolkit().sync()
}

private fun components() = Window.getWindows().asSequence().filter { it.isShowing }.flatMap { descendants(it) }

private fun descendants(component: Component): Sequence<Component> =
    sequence {
        yield(component)
        if (component is Container) component.components.forEach { yieldAll(descendants(it)) }
    }

/** Returns the visible texts, except those in editors. */
private fun texts(component: Component) =
    descendants(component).filter { it.isShowing }.mapNotNull { label(it) }.filter { it.isNotBlank() }.toList()

/** Returns the texts in sight, of all windows or of one. Each label, button, row, or part of a row has its own. */
private fun read(window: String?): List<String> {
    val windows = Window.getWindows().filter { it.isShowing && (window == null || title(it) == window) }
    val seen = windows.flatMap { descendants(it) }.filter(::isInSight)
    return seen.flatMap(::readable).filter { it.isNotBlank() }
}

/** Returns whether a component is neither scrolled out of the window nor below another window. */
private fun isInSight(component: Component): Boolean {
    if (!component.isShowing) return false
    val seen = (component as? JComponent)?.visibleRect ?: Rectangle(component.size)
    if (seen.isEmpty || (seen.height < component.height && component !is JTree)) return false
    val middle = Point(seen.centerX.toInt(), seen.centerY.toInt())
    SwingUtilities.convertPointToScreen(middle, component)
    val window = component as? Window ?: SwingUtilities.getWindowAncestor(component)
    return owned(window).none { it.isShowing && middle in it.bounds }
}

/** Returns the windows above a window. */
private fun owned(window: Window): Sequence<Window> = window.ownedWindows.asSequence().flatMap { owned(it) + it }

/** Returns the texts that a user reads in a component, without the markup of HTML. */
private fun readable(component: Component): List<String> =
    when (component) {
        is JTree -> visibleRows(component).flatMap { descendants(rowCell(component, it)).flatMap(::readable).toList() }
        is JComboBox<*> -> readable(selectedCell(component))
        is SimpleColoredComponent -> component.iterator().asSequence().toList()
        else -> listOfNotNull(html(component) ?: label(component))
    }

private fun visibleRows(tree: JTree) =
    (0 until tree.rowCount).filter { tree.getRowBounds(it).intersects(tree.visibleRect) }

private fun <T> selectedCell(box: JComboBox<T>): Component {
    val item = box.getItemAt(box.selectedIndex)
    return box.renderer.getListCellRendererComponent(JList<T>(), item, -1, false, false)
}

/** Returns the text of a label or a button with HTML. */
private fun html(component: Component): String? {
    val view = (component as? JComponent)?.getClientProperty(BasicHTML.propertyKey) as? View
    return view?.document?.run { getText(0, length) }
}

private fun tooltips(component: Component) =
    descendants(component).filterIsInstance<JComponent>().filter { it.isShowing }.mapNotNull { it.toolTipText }.toList()

private fun label(component: Component): String? =
    when (component) {
        is EditorComponentImpl -> null
        is JLabel -> component.text
        is AbstractButton -> component.text
        is HyperlinkLabel -> component.text
        is SimpleColoredComponent -> component.getCharSequence(true).toString()
        is JTextComponent -> component.document.run { getText(0, length) }
        is TextPanel -> component.text
        else -> null
    }
