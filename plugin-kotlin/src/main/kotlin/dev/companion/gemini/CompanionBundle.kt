// Reads the plugin's texts.

package dev.companion.gemini

import com.intellij.AbstractBundle
import com.intellij.openapi.application.ApplicationInfo
import org.jetbrains.annotations.PropertyKey

private const val BUNDLE = "messages.CompanionBundle"

/** All texts that the plugin shows to the user. Any thread. */
object CompanionBundle : AbstractBundle(BUNDLE) {
    fun message(
        @PropertyKey(resourceBundle = BUNDLE) key: String,
        vararg params: Any,
    ): String = getMessage(key, *params)

    /**
     * Names the class or member that the running IDE lacks. The plugin is compiled against one IDE and runs in many.
     */
    fun missing(error: LinkageError): String {
        val build = ApplicationInfo.getInstance().build.asString()
        return message("platform.missing", build, error.message ?: error.javaClass.simpleName)
    }
}
