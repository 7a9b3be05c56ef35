// Reports changes of proposals within the plugin.

package dev.companion.gemini.review

import com.intellij.util.messages.Topic

fun interface ProposalListener {
    /** The number of waiting proposals. EDT. */
    fun proposalsChanged(waiting: Int)

    companion object {
        /** On the project's message bus. */
        val TOPIC: Topic<ProposalListener> = Topic.create("Proposals of Gemini CLI", ProposalListener::class.java)
    }
}
