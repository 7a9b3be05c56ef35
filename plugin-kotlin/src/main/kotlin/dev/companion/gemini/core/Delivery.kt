// Declares the server's answers to decisions: whether the CLI gets an acceptance.

package dev.companion.gemini.core

import com.google.gson.annotations.SerializedName

/** The delivery of an acceptance. */
enum class Delivery {
    /** The CLI is connected and receives it. */
    @SerializedName("delivered")
    DELIVERED,

    /** The CLI is disconnected. It receives the acceptance when it reconnects. */
    @SerializedName("queued")
    QUEUED,

    /** No CLI waits for it any more. */
    @SerializedName("unknown")
    UNKNOWN,
}

class Decided(val delivery: Delivery)

/** [withdrawn] says whether it is certain that the CLI does not make the edit. */
class Withdrawn(val withdrawn: Boolean)
