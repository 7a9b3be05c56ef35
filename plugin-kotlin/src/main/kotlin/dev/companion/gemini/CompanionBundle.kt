// Owns the way to the plugin's texts.

package dev.companion.gemini

import com.intellij.AbstractBundle
import org.jetbrains.annotations.PropertyKey

private const val BUNDLE = "messages.CompanionBundle"

/** All that the plugin says to its user. Any thread. */
object CompanionBundle : AbstractBundle(BUNDLE) {
    fun message(
        @PropertyKey(resourceBundle = BUNDLE) key: String,
        vararg params: Any,
    ): String = getMessage(key, *params)
}
