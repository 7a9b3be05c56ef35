// Tests that at most one server runs, that it restarts only when needed, and that it stops in the end.

package dev.companion.gemini.project

import dev.companion.gemini.RecordingCore
import dev.companion.gemini.core.LogLevel
import dev.companion.gemini.core.ServerSettings
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Assert.assertSame
import org.junit.Assert.assertTrue
import org.junit.Assert.fail
import org.junit.Test
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread

class CoreSlotTest {
    private val launched = ArrayList<RecordingCore>()
    private var failure: RuntimeException? = null
    private val slot = CoreSlot {
        failure?.let { throw it }
        assertTrue("two servers at once", launched.all(RecordingCore::isClosed))
        RecordingCore().also(launched::add)
    }
    private val settings = ServerSettings(listOf("/a"), trusted = true)

    @Test
    fun `a change that a server can receive is sent once, and the server stays`() {
        var wanted = settings
        val changes = mapOf<String, ServerSettings.() -> ServerSettings>(
            "folders /a /b" to { copy(workspace = listOf("/a", "/b")) },
            "trust false" to { copy(trusted = false) },
            "trust" to { copy(trusted = null) },
            "shareContext false" to { copy(shareContext = false) },
            "shareContext true" to { copy(shareContext = true) },
            "review true" to { copy(reviewAll = true) },
            "review false" to { copy(reviewAll = false) },
        )
        slot.bring(wanted)
        for (change in changes.values) {
            wanted = wanted.change()
            repeat(2) { slot.bring(wanted) }
        }
        assertEquals(changes.keys.toList(), launched.single().calls)
    }

    @Test
    fun `a setting that a server can't receive restarts it`() {
        slot.bring(settings)
        val quiet = settings.copy(logLevel = LogLevel.OFF)
        for (other in listOf(settings.copy(review = false), settings.copy(bodyLimit = 1), quiet)) {
            val before = slot.core
            slot.bring(other)
            assertTrue((before as RecordingCore).isClosed)
            assertSame(launched.last(), slot.core)
        }
    }

    @Test
    fun `a restart keeps proposals, unless clients do not find the next server`() {
        val restarts = { launched[launched.size - 2].calls == listOf("restarts") }
        slot.bring(settings)
        slot.bring(settings, restarts = true)
        assertTrue(restarts())
        slot.bring(settings.copy(bodyLimit = 1))
        assertTrue(restarts())
        for (other in listOf(settings.copy(review = false), settings, settings.copy(ideName = "other"))) {
            slot.bring(other)
            assertEquals(other.ideName == null && other.review, restarts())
        }
        slot.bring(settings.copy(workspace = listOf("/b", "/a")), restarts = true)
        assertFalse(restarts())
        val last = launched.last()
        slot.bring(null)
        assertEquals(listOf<String>(), last.calls)
    }

    @Test
    fun `a failed start leaves nothing behind and can be tried again`() {
        slot.bring(settings)
        failure = IllegalStateException("no port")
        try {
            slot.bring(settings.copy(review = false))
            fail("the failure is not reported")
        } catch (e: IllegalStateException) {
            assertEquals("no port", e.message)
        }
        assertNull(slot.core)
        failure = null
        slot.bring(settings)
        assertFalse(launched.last().isClosed)
    }

    @Test
    fun `after its end nothing starts`() {
        slot.bring(settings)
        slot.end()
        slot.bring(settings)
        assertNull(slot.core)
        assertTrue(launched.single().isClosed)
    }

    @Test
    fun `whoever ends it waits until it has ended`() {
        val closing = CountDownLatch(1)
        val mayClose = CountDownLatch(1)
        val core = object : RecordingCore() {
            override fun close() {
                closing.countDown()
                mayClose.await()
                super.close()
            }
        }
        val slow = CoreSlot { core }
        slow.bring(settings)
        val first = thread { slow.end() }
        assertTrue(closing.await(10, TimeUnit.SECONDS))
        val second = thread { slow.end() }
        while (second.state != Thread.State.BLOCKED) assertTrue("did not wait", second.isAlive)
        mayClose.countDown()
        second.join(TimeUnit.SECONDS.toMillis(10))
        assertTrue(core.isClosed)
        first.join(TimeUnit.SECONDS.toMillis(10))
    }
}
