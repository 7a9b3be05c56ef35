// Names the tabs of proposals, and describes the position of a proposal among the waiting ones.

package dev.companion.gemini.tabs

import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.ProposalKind
import dev.companion.gemini.target.ShownPath

internal object ProposalTitles {
    /**
     * Titles by the file's name or, if several have the same name, by its path. Returns the tabs
     * with a new title.
     */
    fun update(proposals: Collection<Proposal>): List<ProposalFile> {
        val names = proposals.groupingBy { ShownPath.name(it.path) }.eachCount()
        val renamed = proposals.filter { proposal ->
            val name = ShownPath.name(proposal.path)
            val key = if (proposal.kind == ProposalKind.CREATE) "diff.tab.new" else "diff.tab"
            val shown = if (names.getValue(name) > 1) proposal.shownPath else name
            proposal.file.rename(CompanionBundle.message(key, shown))
        }
        return renamed.map { it.file }
    }
}

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
