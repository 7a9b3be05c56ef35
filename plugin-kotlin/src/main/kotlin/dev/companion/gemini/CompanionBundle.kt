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
