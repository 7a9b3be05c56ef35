// Names the place of a proposal among the waiting ones, and its CLI.

package dev.companion.gemini.tabs

import dev.companion.gemini.CompanionBundle

/** The position of a proposal; [cli] is its CLI, if there are several. */
internal data class Place(
    val number: Int = 1,
    val count: Int = 1,
    val cli: Int? = null,
) {
    /** The proposal's owner, at the beginning of a sentence. */
    val who: String get() = cli?.let(::shown) ?: CompanionBundle.message("diff.cli")

    companion object {
        fun shown(cli: Int): String = CompanionBundle.message("diff.cli.number", cli)
    }
}
