// Loads the icons of the plugin.

package dev.companion.gemini.ui

import com.intellij.openapi.util.IconLoader
import javax.swing.Icon

internal object CompanionIcons {
    val OFF: Icon = load("statusOff")
    val WAITING: Icon = load("statusWaiting")
    val CONNECTED: Icon = load("statusConnected")
    val FAILED: Icon = load("statusFailed")

    /** Any thread. Loads all icons. Otherwise each is loaded when it is first needed. */
    fun read() = listOf(OFF, WAITING, CONNECTED, FAILED).forEach(Icon::getIconWidth)

    private fun load(name: String) = IconLoader.getIcon("/icons/$name.svg", CompanionIcons::class.java)
}
