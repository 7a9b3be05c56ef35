// Finds the window in which the user works.

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
        return activeWindows().any { window -> window === frame || (window as? IdeFrame)?.project == this }
    }

/** Returns the active window, such as a dialog, and the windows that own it. Any thread. */
internal fun activeWindows(): Sequence<Window> =
    generateSequence(KeyboardFocusManager.getCurrentKeyboardFocusManager().activeWindow, Window::getOwner)
