// Tests that a terminal which starts together with the project gets the variables of the project's server.

package dev.companion.gemini.project

import com.intellij.openapi.application.ApplicationManager
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.core.CompanionCore
import java.util.concurrent.Callable
import java.util.concurrent.CountDownLatch

class AwaitCoreTest : ServiceTestCase() {
    private val isReady = CountDownLatch(1)
    private val core = RecordingCore()
    private lateinit var service: CompanionService

    override fun setUp() {
        super.setUp()
        service = serviceWith { _, _ ->
            isReady.await()
            core
        }
    }

    override fun tearDown() {
        isReady.countDown()
        super.tearDown()
    }

    private fun askInBackground() =
        ApplicationManager.getApplication().executeOnPooledThread(Callable<CompanionCore?> { service.awaitCore() })

    fun testOneThatStartsIsWaitedForAlsoBeforeItsStart() {
        val asked = askInBackground()
        service.start()
        val askedLater = askInBackground()
        assertNull("the EDT does not wait", service.awaitCore())
        assertFalse(asked.isDone || askedLater.isDone)
        isReady.countDown()
        await { asked.isDone && askedLater.isDone }
        assertSame(core, asked.get())
        assertSame(core, askedLater.get())
    }

    fun testOneThatTakesTooLongIsNotWaitedFor() {
        service.start()
        val asked = askInBackground()
        await { asked.isDone }
        assertNull(asked.get())
    }
}
