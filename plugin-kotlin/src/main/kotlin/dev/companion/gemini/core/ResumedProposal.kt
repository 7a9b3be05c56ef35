// Declares proposals that stay open over a restart, in the shapes of `editor/restart.rs` in rust/companion-protocol.

package dev.companion.gemini.core

/** A proposal of the last server that the IDE shows, with the fields of its [OpenDiff]. */
class ShownProposal(
    val diff: String,
    val newContent: String,
)

/** A proposal of the last server that is open in this one. [cli] and [reason] are as in an [OpenDiff] by now. */
class ResumedProposal(
    val diff: String = "",
    val cli: Int = 1,
    val reason: ReasonArrival = ReasonArrival.NEVER,
)

/** The [proposals] that are open again. */
class ResumedProposals(val proposals: List<ResumedProposal>)
