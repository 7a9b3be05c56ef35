// Reads the plugin's texts.

package dev.companion.gemini

import com.intellij.AbstractBundle
import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.application.ApplicationInfo
import com.intellij.openapi.keymap.KeymapUtil
import org.jetbrains.annotations.PropertyKey

private const val BUNDLE = "messages.CompanionBundle"

/** All texts that the plugin shows to the user. Any thread. */
object CompanionBundle : AbstractBundle(BUNDLE) {
    fun message(
        @PropertyKey(resourceBundle = BUNDLE) key: String,
        vararg params: Any,
    ): String = getMessage(key, *params)

    /** Names the keys of an action, which the user can change; empty if it has none. */
    fun keys(actionId: String): String =
        KeymapUtil.getFirstKeyboardShortcutText(ActionManager.getInstance().getAction(actionId))

    /** Adds the keys of an action to a text. */
    fun withKeys(text: String, actionId: String): String {
        val keys = keys(actionId)
        return if (keys.isEmpty()) text else message("diff.withKeys", text, keys)
    }

    /** Cuts a text that must fit into one line. */
    fun shortened(text: String, most: Int): String {
        if (text.length <= most) return text
        val cut = text.take(most)
        return (if (cut.last().isHighSurrogate()) cut.dropLast(1) else cut).trimEnd() + '\u2026'
    }

    /** Cuts a list for the user, and counts the rest in its last line. */
    fun shortened(lines: List<String>, most: Int): List<String> {
        val more = lines.size - most
        return if (more > 0) lines.take(most) + message("diff.ask.more", more) else lines
    }

    /**
     * Names the class or member that the running IDE lacks, or the class that failed to start. The plugin is compiled
     * against one IDE and runs in many.
     */
    fun missing(error: LinkageError): String {
        val build = ApplicationInfo.getInstance().build.asString()
        val failedClass = error.message?.takeIf { it.startsWith(FAILED_CLASS) }?.removePrefix(FAILED_CLASS)
        return when {
            failedClass != null -> message("platform.failed", build, failedClass)
            error is ExceptionInInitializerError -> message("platform.failed", build, (error.cause ?: error).toString())
            else -> message("platform.missing", build, error.message ?: error.javaClass.simpleName)
        }
    }

    /** How the JVM begins its message from the second use of the class on. */
    private const val FAILED_CLASS = "Could not initialize class "
}
