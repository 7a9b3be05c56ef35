// Describes the position of a proposal among the waiting ones, and names its CLI.

package dev.companion.gemini.tabs

import dev.companion.gemini.CompanionBundle

/** The position of a proposal among the waiting ones; [cli] is its CLI, if there are several. */
internal data class ProposalPosition(
    val number: Int = 1,
    val count: Int = 1,
    val cli: Int? = null,
) {
    /** The proposal's owner, at the beginning of a sentence. */
    val owner: String get() = cli?.let(::nameOf) ?: CompanionBundle.message("diff.cli")

    companion object {
        fun nameOf(cli: Int): String = CompanionBundle.message("diff.cli.number", cli)
    }
}
