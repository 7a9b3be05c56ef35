// Creates the events of actions, as the platform does for a key, a menu or a click.

package dev.companion.gemini

import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.DataContext
import com.intellij.openapi.actionSystem.DataKey
import java.awt.event.InputEvent

/** Updates the action for [data], and returns the event. */
fun AnAction.eventOn(vararg data: Pair<DataKey<*>, Any?>, press: InputEvent? = null): AnActionEvent {
    val values = data.associate { (key, value) -> key.name to value }
    return AnActionEvent.createFromAnAction(this, press, "test", DataContext(values::get)).also(::update)
}
