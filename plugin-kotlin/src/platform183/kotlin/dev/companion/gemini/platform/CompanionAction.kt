// Declares an action as the platform of 2018.3 wants it.

package dev.companion.gemini.platform

import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.project.DumbAware

/** An action of the plugin's. Its update asks for nothing that could wait. */
abstract class CompanionAction :
    AnAction(),
    DumbAware {
    protected open val asksForFiles: Boolean get() = false
}
