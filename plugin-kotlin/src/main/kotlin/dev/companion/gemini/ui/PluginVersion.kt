// Reads the version of the plugin from the platform.

package dev.companion.gemini.ui

import com.intellij.ide.plugins.IdeaPluginDescriptor
import com.intellij.openapi.extensions.ExtensionPointName
import com.intellij.openapi.extensions.PluginAware
import com.intellij.openapi.extensions.PluginDescriptor

/**
 * Receives the plugin's descriptor, which the platform gives to extensions. Plugins may not use other ways to get it.
 */
class PluginVersion : PluginAware {
    private var plugin: PluginDescriptor? = null

    override fun setPluginDescriptor(pluginDescriptor: PluginDescriptor) {
        plugin = pluginDescriptor
    }

    companion object {
        private val EXTENSIONS = ExtensionPointName.create<PluginVersion>("dev.companion.gemini.version")

        /** Any thread. */
        fun get(): String? = (EXTENSIONS.extensionList.firstOrNull()?.plugin as? IdeaPluginDescriptor)?.version
    }
}
