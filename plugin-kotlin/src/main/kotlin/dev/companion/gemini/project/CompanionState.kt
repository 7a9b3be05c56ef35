// Owns what the plugin tells about the server of a project.

package dev.companion.gemini.project

import com.intellij.util.messages.Topic

sealed class CompanionState {
    /** There is none: the project has just been opened, or the settings ask for none. */
    data object Off : CompanionState()

    /** There is none in Remote Development: nobody has tried yet what happens there. */
    data object Remote : CompanionState()

    data object Starting : CompanionState()

    /**
     * @param connected how many CLIs are connected
     * @param discoveryFile by which CLIs find it; null if it could not be written
     * @param listening all addresses at which it listens, with port
     * @param notListening where it does not although it was to: a sentence for each address
     */
    data class Running(
        val port: Int,
        val connected: Int,
        val discoveryFile: String?,
        val listening: List<String> = emptyList(),
        val notListening: List<String> = emptyList(),
    ) : CompanionState()

    /** @param message for the user: what is wrong and what to do */
    data class Failed(val message: String) : CompanionState()
}

fun interface CompanionStateListener {
    /** EDT, in any modality. */
    fun stateChanged(state: CompanionState)

    companion object {
        /** On the project's message bus. */
        val TOPIC: Topic<CompanionStateListener> =
            Topic.create("State of the companion", CompanionStateListener::class.java)
    }
}
