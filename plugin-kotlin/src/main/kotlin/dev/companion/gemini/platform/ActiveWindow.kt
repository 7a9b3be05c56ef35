// Says whether the user works in a window of a project.

package dev.companion.gemini.platform

import com.intellij.openapi.project.Project
import com.intellij.openapi.wm.IdeFrame
import com.intellij.openapi.wm.WindowManager
import java.awt.KeyboardFocusManager
import java.awt.Window

/** Whether the active window belongs to the project, such as a dialog or a separate window of editors. Any thread. */
internal val Project.hasActiveWindow: Boolean
    get() {
        val frame = WindowManager.getInstance().getFrame(this)
        val active = KeyboardFocusManager.getCurrentKeyboardFocusManager().activeWindow
        return generateSequence(active, Window::getOwner).any { window ->
            window === frame || (window as? IdeFrame)?.project == this
        }
    }
