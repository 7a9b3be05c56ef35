// Describes the state of the server of a project.

package dev.companion.gemini.project

import com.intellij.util.messages.Topic
import dev.companion.gemini.core.ServerStatus

sealed class CompanionState {
    /** No server is wanted. [key] has the state's title; `key.details` explains it. */
    sealed class Unwanted(val key: String) : CompanionState()

    /** The settings disable all features. */
    data object Off : Unwanted("status.off")

    /** A welcome screen in the form of a project has no server. */
    data object WelcomeScreen : Unwanted("status.welcome")

    /** In Remote Development no server starts, because this is untested. */
    data object Remote : Unwanted("status.remote")

    /** The project has just been opened, or its server starts. */
    data object Starting : CompanionState()

    /**
     * [status] is from the last start of the server, or from the last change of its settings or its CLIs. While a
     * discovery file is missing, it is renewed every few seconds.
     */
    data class Running(val status: ServerStatus) : CompanionState()

    /** @param message for the user: problem and fix */
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
