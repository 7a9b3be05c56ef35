// Chooses the greeting for the first connection of a CLI.

package dev.companion.gemini.ui

import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.keymap.KeymapUtil
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.project.CompanionSettings
import dev.companion.gemini.tabs.ProposalActionIds

/** Each text must fit into one line: a balloon hides the rest of a longer text until it is clicked. */
internal object Greeting {
    /** Describes the context that the CLI receives from a project, which may share nothing. */
    fun shared(settings: CompanionSettings.Values, isProjectShared: Boolean): String =
        when {
            !isProjectShared -> message("greeting.shared.nothing")
            settings.context && settings.diagnostics -> message("greeting.shared")
            settings.context -> message("greeting.shared.context")
            settings.diagnostics -> message("greeting.shared.problems")
            else -> message("greeting.shared.nothing")
        }

    /** Describes how users review edits. */
    fun review(settings: CompanionSettings.Values): String {
        if (!settings.review) return message("greeting.review.terminal")
        val accept = ActionManager.getInstance().getAction(ProposalActionIds.ACCEPT)
        val keys = KeymapUtil.getFirstKeyboardShortcutText(accept)
        return if (keys.isEmpty()) message("greeting.review") else message("greeting.review.keys", keys)
    }
}
