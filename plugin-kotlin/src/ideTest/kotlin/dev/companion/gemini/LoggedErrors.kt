// Collects the errors that a test makes the plugin log.

package dev.companion.gemini

import com.intellij.openapi.Disposable
import com.intellij.openapi.util.Disposer
import com.intellij.testFramework.LoggedErrorProcessor
import org.apache.log4j.Logger
import java.util.concurrent.CopyOnWriteArrayList

/** The errors in the IDE's log from now on, until [parent] is disposed. By default such an error fails a test. */
fun loggedErrors(parent: Disposable): List<Throwable?> {
    val logged = CopyOnWriteArrayList<Throwable?>()
    val processor = object : LoggedErrorProcessor() {
        override fun processError(text: String?, thrown: Throwable?, details: Array<out String>?, log: Logger) {
            logged += thrown
        }
    }
    LoggedErrorProcessor.setNewInstance(processor)
    Disposer.register(parent, LoggedErrorProcessor::restoreDefaultProcessor)
    return logged
}
