// Owns what the robot does by means of the platform. Keys and clicks come from the script, by the window system.

package dev.companion.gemini.robot

import com.google.gson.JsonObject
import com.intellij.ide.DataManager
import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.ActionPlaces
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.ex.ActionUtil
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.ModalityState
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.OpenFileDescriptor
import java.awt.Component
import java.awt.KeyboardFocusManager

internal val DEEDS: Map<String, Command> = mapOf(
    "open" to ::open,
    "rename" to { write { file(it.text("path")).rename(this, it.text("name")) } },
    "move" to { write { file(it.text("path")).move(this, file(it.text("folder"))) } },
    "delete" to { write { file(it.text("path")).delete(this) } },
    "close" to { FileEditorManager.getInstance(project()).closeFile(file(it.text("path"))) },
    "write proposal" to { command ->
        write { proposal(command.text("tab")).document.setText(command.text("text")) }
    },
    "invoke" to { invoke(it.text("action"), it.textOrNull("proposal")) },
    "type" to { Typing.run(it.text("path"), it.number("count")) },
)

/** Opens a file in an editor with the focus, with the caret at `line` and `character`, and selects up to it from `from`. */
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

private fun write(change: Any.() -> Unit) = WriteCommandAction.runWriteCommandAction(project()) { Robot.change() }

/** Has an action performed where the focus is, or in a proposal; fails if a user could not. */
private fun invoke(id: String, proposal: String?) {
    val action = checkNotNull(ActionManager.getInstance().getAction(id)) { "there is no action $id" }
    val component: Component = proposal?.let { proposal(it).contentComponent }
        ?: KeyboardFocusManager.getCurrentKeyboardFocusManager().run { focusOwner ?: activeWindow }
        ?: error("nothing has the focus")
    val context = DataManager.getInstance().getDataContext(component)
    val event = AnActionEvent.createFromAnAction(action, null, ActionPlaces.UNKNOWN, context)
    ActionUtil.performDumbAwareUpdate(false, action, event, true)
    check(event.presentation.run { isEnabled && isVisible }) { "the action is disabled" }
    // Later, as it may open a dialog and return only after that, or never.
    ApplicationManager
        .getApplication()
        .invokeLater({ ActionUtil.performActionDumbAware(action, event) }, ModalityState.NON_MODAL)
}
