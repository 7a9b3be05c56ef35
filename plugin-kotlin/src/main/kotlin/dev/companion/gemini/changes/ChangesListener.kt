// Reports changes of the list within the plugin.

package dev.companion.gemini.changes

import com.intellij.util.messages.Topic

fun interface ChangesListener {
    /** The number of files that CLIs changed. EDT. */
    fun changesChanged(files: Int)

    companion object {
        /** On the project's message bus. */
        val TOPIC: Topic<ChangesListener> = Topic.create("Files that CLIs changed", ChangesListener::class.java)
    }
}
