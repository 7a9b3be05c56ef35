// Tests the alerts for proposals that arrive while the IDE is in the background.

package dev.companion.gemini.review

import com.intellij.openapi.application.ApplicationActivationListener
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.wm.IdeFrame
import com.intellij.openapi.wm.WindowManager
import dev.companion.gemini.disk.PostponedWrites

class BackgroundAlertTest : DiffTestCase() {
    private val shown = ArrayList<String>()
    private var inBackground = true

    override fun setUp() {
        super.setUp()
        val alerts = object : SystemAlerts {
            override val isInBackground get() = inBackground

            override fun show(title: String, text: String) {
                shown += "$title: $text"
            }
        }
        service = ProposalService(project, PostponedWrites::flush, alerts)
        Disposer.register(testRootDisposable, service)
    }

    private fun alert(name: String) = "Companion for Gemini CLI: The CLI proposes the new file ${root.name}/$name."

    private fun activate() {
        val frame = WindowManager.getInstance().allProjectFrames.firstOrNull() ?: ANY_FRAME
        val bus = ApplicationManager.getApplication().messageBus
        bus.syncPublisher(ApplicationActivationListener.TOPIC).applicationActivated(frame)
    }

    fun `test several proposals alert once until the user returns`() {
        propose("a.txt", "secret")
        propose("b.txt", "secret")
        assertEquals(listOf(alert("a.txt")), shown)
        activate()
        propose("c.txt", "secret")
        assertEquals(listOf(alert("a.txt"), alert("c.txt")), shown)
    }

    fun `test the next one alerts again after all are decided`() {
        propose("a.txt", "one").click("Reject")
        propose("b.txt", "two")
        assertEquals(listOf(alert("a.txt"), alert("b.txt")), shown)
    }

    fun `test nothing alerts while the IDE is active`() {
        inBackground = false
        propose("a.txt", "one")
        assertEquals(emptyList<String>(), shown)
    }

    private companion object {
        /** A frame that is never used. */
        val ANY_FRAME = java.lang.reflect.Proxy
            .newProxyInstance(
                IdeFrame::class.java.classLoader,
                arrayOf(IdeFrame::class.java),
            ) { _, _, _ -> null } as IdeFrame
    }
}
