// Finds another plugin that connects Gemini CLI with this IDE.

package dev.companion.gemini.ui

import com.intellij.ide.plugins.PluginManager
import com.intellij.openapi.extensions.PluginId

/** Two companions set the same variables of a terminal. Which one a CLI finds depends on their order. */
internal object OtherCompanion {
    private val IDS = listOf("com.google.gemini.cli")

    /** Returns the name of such a plugin; null if there is none, or if it is disabled. Any thread. */
    fun name(ids: List<String> = IDS): String? {
        val installed = ids.mapNotNull { PluginManager.getPlugin(PluginId.getId(it)) }
        return installed.find { it.isEnabled }?.name
    }
}
