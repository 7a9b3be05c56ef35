// Waits in the platform's tests, which run on the EDT.

package dev.companion.gemini

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.impl.LaterInvocator
import com.intellij.util.ui.UIUtil
import java.lang.ref.WeakReference
import java.util.concurrent.Callable
import java.util.concurrent.TimeUnit

/** Runs the IDE's events until [condition] holds. Fails after [seconds] with a message that [what] is missing. */
fun dispatchUntil(seconds: Long, what: String, condition: () -> Boolean) =
    waitUntil(seconds, what, UIUtil::dispatchAllInvocationEvents, condition)

/** Waits like [dispatchUntil], but runs no events: the IDE's EDT does nothing until [condition] holds. */
fun blockUntil(seconds: Long, what: String, condition: () -> Boolean) = waitUntil(seconds, what, {}, condition)

private fun waitUntil(seconds: Long, what: String, meanwhile: () -> Unit, condition: () -> Boolean) {
    val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds)
    while (!condition()) {
        check(System.nanoTime() < deadline) { "waited in vain: $what" }
        meanwhile()
        Thread.sleep(1)
    }
}

/** Waits until no reference to the result of [make] is left. */
fun awaitGone(what: String, make: () -> Any) {
    val reference = WeakReference(make())
    dispatchUntil(10, "the end of $what") {
        System.gc()
        reference.get() == null
    }
}

/** Does [work] as if a modal dialog were open. */
fun belowDialog(work: () -> Unit) {
    LaterInvocator.enterModal(work)
    try {
        work()
    } finally {
        LaterInvocator.leaveModal(work)
    }
}

/** Returns the result of [work], which may wait, from a separate thread. */
fun <T> offEdt(work: () -> T): T {
    val result = ApplicationManager.getApplication().executeOnPooledThread(Callable(work))
    dispatchUntil(10, "what is done off the EDT", result::isDone)
    return result.get()
}
