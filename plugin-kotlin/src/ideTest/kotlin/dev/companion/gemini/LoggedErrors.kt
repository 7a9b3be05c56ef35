// Collects the errors that a test makes the plugin log.

package dev.companion.gemini

import com.intellij.testFramework.LoggedErrorProcessor
import org.apache.log4j.Logger
import java.util.concurrent.CopyOnWriteArrayList

/** Does [work] with a list of the errors in the IDE's log meanwhile. Before and after it such an error fails a test. */
fun loggedErrors(work: (List<Throwable?>) -> Unit) {
    val logged = CopyOnWriteArrayList<Throwable?>()
    val processor = object : LoggedErrorProcessor() {
        override fun processError(text: String?, thrown: Throwable?, details: Array<out String>?, log: Logger) {
            logged += thrown
        }
    }
    LoggedErrorProcessor.setNewInstance(processor)
    try {
        work(logged)
    } finally {
        LoggedErrorProcessor.restoreDefaultProcessor()
    }
}
