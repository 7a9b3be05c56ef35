// Asks before a revert loses changes that are not the CLI's.

package dev.companion.gemini.changes

import com.intellij.openapi.project.Project
import com.intellij.openapi.ui.Messages
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.Platform

/** EDT. The question blocks until the answer; Enter and Esc choose the answer that changes nothing. */
internal object RevertQuestion {
    enum class Answer { CANCEL, SHOW, UNCHANGED, ALL }

    /** [question] is the server's, about [count] files. For [warned] of them the user would lose something. */
    fun ask(project: Project, question: String, count: Int, warned: Int): Answer {
        assertEdt()
        val unwarned = count - warned
        val choices = listOfNotNull(
            Answer.CANCEL to message("changes.ask.cancel"),
            Answer.SHOW to message("diff.changed.show"),
            (Answer.UNCHANGED to message("changes.ask.unchanged", unwarned)).takeIf { unwarned > 0 },
            Answer.ALL to if (count == 1) message("changes.ask.anyway") else message("changes.ask.all", count),
        )
        val labels = choices.map { it.second }.toTypedArray()
        val text = Platform.dialogMessage(question)
        val icon = Messages.getQuestionIcon()
        val answer = Messages.showDialog(project, text, message("changes.ask.title"), labels, 0, icon)
        return choices.getOrNull(answer)?.first ?: Answer.CANCEL
    }
}
