// Carries out the robot's commands through the platform. The script sends keys and clicks through the window system.

package dev.companion.gemini.robot

import com.google.gson.JsonObject
import com.intellij.ide.DataManager
import com.intellij.ide.ui.UISettings
import com.intellij.notification.Notification
import com.intellij.notification.NotificationsManager
import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.ActionPlaces
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.ModalityState
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.editor.EditorFactory
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.OpenFileDescriptor
import com.intellij.openapi.fileEditor.impl.FileEditorManagerImpl
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.wm.IdeFocusManager
import com.intellij.openapi.wm.ToolWindowId
import com.intellij.openapi.wm.ToolWindowManager
import com.intellij.openapi.wm.WindowManager
import java.awt.Component
import java.awt.KeyboardFocusManager
import java.awt.event.WindowEvent
import javax.swing.SwingUtilities

internal val ACTIONS: Map<String, Command> = mapOf(
    "open" to ::open,
    "open project" to { openProject(it.text("path")) },
    "turn to" to { turnTo(it.text("tab")) },
    "text of file" to { FileDocumentManager.getInstance().getDocument(file(it.text("path")))?.text },
    "rename" to { write { file(it.text("path")).rename(this, it.text("name")) } },
    "move" to { write { file(it.text("path")).move(this, file(it.text("folder"))) } },
    "delete" to { write { file(it.text("path")).delete(this) } },
    "close" to { FileEditorManager.getInstance(project()).closeFile(file(it.text("path"))) },
    "write proposal" to { command ->
        write { proposal(command.text("tab")).document.setText(command.text("text")) }
    },
    "leave editors" to { leaveEditors() },
    "version control" to { PlainVcs.control(project()) },
    "tab limit" to { limitTabs(it.number("count")) },
    "detach" to { detach(tabFile(it.text("tab"))) },
    "close window" to { closeWindow(it.text("tab")) },
    "invoke" to { invoke(it.text("action"), it.textOrNull("proposal")) },
    "follow log" to { followLog(it.text("about"), it.text("link")) },
)

/** Follows a link in the last notification about a subject, like a click in the Notifications tool window. */
private fun followLog(about: String, link: String) {
    val all = NotificationsManager.getNotificationsManager().getNotificationsOfType(Notification::class.java, project())
    val notifications = all.filter { about in it.content }
    val links = notifications.flatMap { notification -> notification.actions.map { notification to it } }
    val (notification, action) = links.last { (_, action) -> action.templatePresentation.text == link }
    Notification.fire(notification, action, null)
}

/**
 * Opens a file in an editor with the focus. Moves the caret to `line` and `character`, and selects from `from` to it.
 */
private fun open(command: JsonObject) {
    val descriptor = OpenFileDescriptor(project(), file(command.text("path")))
    val editor = checkNotNull(FileEditorManager.getInstance(project()).openTextEditor(descriptor, true))

    fun offset(line: Int, character: Int) = editor.document.getLineStartOffset(line - 1) + character - 1
    val caret = offset(command["line"]?.asInt ?: 1, command["character"]?.asInt ?: 1)
    editor.caretModel.moveToOffset(caret)
    val from = command["from"]?.asJsonObject
    if (from == null) {
        editor.selectionModel.removeSelection()
    } else {
        editor.selectionModel.setSelection(offset(from.number("line"), from.number("character")), caret)
    }
}

private fun openProject(path: String) {
    checkNotNull(Seam.openProject(path)) { "it was not opened" }
}

/** Gives a proposal the focus, like a click into it. In a split it uses the visible editor. */
private fun turnTo(tab: String) {
    val document = proposal(tab).document
    FileEditorManager.getInstance(project()).openFile(tabFile(tab), true)
    val shown = EditorFactory.getInstance().getEditors(document).map { it.contentComponent }.find { it.isShowing }
    if (shown != null) IdeFocusManager.getInstance(project()).requestFocus(shown, true)
}

private fun write(change: Any.() -> Unit) = WriteCommandAction.runWriteCommandAction(project()) { Robot.change() }

/**
 * Performs an action in a proposal, which comes to the front, or where the focus is. Returns false if nothing has the
 * focus. Fails if a user could not do so.
 */
private fun invoke(id: String, proposal: String?): Boolean {
    val action = checkNotNull(ActionManager.getInstance().getAction(id)) { "there is no action $id" }
    if (proposal != null && !proposal(proposal).contentComponent.isShowing) {
        FileEditorManager.getInstance(project()).openFile(tabFile(proposal), false)
    }
    val component: Component = proposal?.let { proposal(it).contentComponent }
        ?: KeyboardFocusManager.getCurrentKeyboardFocusManager().run { focusOwner ?: activeWindow }
        ?: return false
    val context = DataManager.getInstance().getDataContext(component)
    val event = AnActionEvent.createFromAnAction(action, null, ActionPlaces.UNKNOWN, context)
    Seam.update(action, event)
    check(event.presentation.run { isEnabled && isVisible }) { "the action is disabled" }
    // Runs later, because it may open a dialog and return only after that, or never.
    ApplicationManager
        .getApplication()
        .invokeLater(
            { Seam.perform(action, event) },
            ModalityState.NON_MODAL,
        )
    return true
}

/** Returns whether no editor has the focus. If one has, moves the focus to a tool window. */
private fun leaveEditors(): Boolean {
    val focus = KeyboardFocusManager.getCurrentKeyboardFocusManager().focusOwner
    val hasLeft =
        focus != null && CommonDataKeys.EDITOR.getData(DataManager.getInstance().getDataContext(focus)) == null
    if (!hasLeft) {
        val window = ToolWindowManager.getInstance(project()).getToolWindow(ToolWindowId.PROJECT_VIEW)
        checkNotNull(window) { "there is no project view" }.activate(null)
    }
    return hasLeft
}

/** Sets the number of tabs above which the platform closes some. */
private fun limitTabs(count: Int) {
    val settings = checkNotNull(UISettings.instanceOrNull)
    settings.editorTabLimit = count
    settings.fireUISettingsChanged()
}

/** Moves a tab into a separate window, like dragging it out of the window. */
private fun detach(file: VirtualFile) {
    val manager = FileEditorManager.getInstance(project()) as FileEditorManagerImpl
    val window = manager.windows.first { it.isFileOpen(file) }
    manager.closeFile(file, window)
    manager.openFileInNewWindow(file)
}

private fun closeWindow(tab: String) {
    val window = checkNotNull(SwingUtilities.getWindowAncestor(tabLabel(tab)))
    check(window !== WindowManager.getInstance().getFrame(project())) { "$tab is in the main window" }
    window.dispatchEvent(WindowEvent(window, WindowEvent.WINDOW_CLOSING))
}
