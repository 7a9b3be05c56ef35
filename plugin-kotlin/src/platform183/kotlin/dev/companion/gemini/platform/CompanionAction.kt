// Declares an action for the platform of 2018.3.

package dev.companion.gemini.platform

import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.project.DumbAware

/** An action of the plugin. Its update must not wait for anything. */
abstract class CompanionAction :
    AnAction(),
    DumbAware {
    protected open val asksForFiles: Boolean get() = false
}
