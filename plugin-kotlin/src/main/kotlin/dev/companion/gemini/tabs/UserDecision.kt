// Declares the user's decision about a proposal.

package dev.companion.gemini.tabs

internal sealed class UserDecision {
    object Accepted : UserDecision()

    /** [reason] is for the model. */
    class Rejected(val reason: String? = null) : UserDecision()
}
