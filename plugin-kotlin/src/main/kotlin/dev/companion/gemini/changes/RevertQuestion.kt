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

    /** [changed] are the files of [all] whose later changes would be lost. */
    fun ask(project: Project, all: List<FileVersions>, changed: List<FileVersions>): Answer {
        assertEdt()
        val unchanged = all.size - changed.size
        val question = when {
            all.size == 1 -> message("changes.ask.one", changed.single().shownPath)
            else -> message("changes.ask.several", changed.size, all.size) + lines(changed)
        }
        val choices = listOfNotNull(
            Answer.CANCEL to message("changes.ask.cancel"),
            Answer.SHOW to message("diff.changed.show"),
            (Answer.UNCHANGED to message("changes.ask.unchanged", unchanged)).takeIf { unchanged > 0 },
            Answer.ALL to if (all.size == 1) message("changes.ask.anyway") else message("changes.ask.all", all.size),
        )
        val labels = choices.map { it.second }.toTypedArray()
        val text = Platform.dialogMessage(question)
        val icon = Messages.getQuestionIcon()
        val answer = Messages.showDialog(project, text, message("changes.ask.title"), labels, 0, icon)
        return choices.getOrNull(answer)?.first ?: Answer.CANCEL
    }

    private fun lines(files: List<FileVersions>): String {
        val more = files.size - SHOWN
        val last = if (more > 0) listOf(message("diff.ask.more", more)) else emptyList()
        return (files.take(SHOWN).map { it.shownPath } + last).joinToString("") { "\n    $it" }
    }

    /** The most files that a question lists. */
    private const val SHOWN = 10
}
