// Tests the alerts for proposals that arrive while the IDE is in the background.

package dev.companion.gemini.review

import com.intellij.openapi.Disposable
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Disposer
import dev.companion.gemini.disk.PostponedWrites
import dev.companion.gemini.shownNotifications

class BackgroundAlertTest : DiffTestCase() {
    private val shown = ArrayList<String>()
    private var inBackground = true
    private lateinit var activate: () -> Unit

    override fun setUp() {
        super.setUp()
        val alerts = object : Alerts {
            override val isInBackground get() = inBackground

            override fun show(title: String, text: String) {
                shown += "$title: $text"
            }

            override fun onReturn(parent: Disposable, returned: () -> Unit) {
                activate = returned
            }
        }
        service = TestProposalService(project, PostponedWrites::flush, alerts)
        Disposer.register(testRootDisposable, service)
    }

    private fun alert(name: String) = "Companion for Gemini CLI: The CLI proposes the new file ${root.name}/$name."

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

    fun `test a name is no markup for the desktop`() {
        val text = "<a href='x'>R&D</a>.txt"
        assertEquals("&lt;a href='x'>R&amp;D&lt;/a>.txt", Alerts.OfPlatform.forSystem(text, isLinux = true))
        assertEquals(text, Alerts.OfPlatform.forSystem(text, isLinux = false))
    }

    fun `test an alert in another project shows the name of its own as it is and ends with it`() {
        val shown = shownNotifications(project, testRootDisposable)
        val closing = object : Project by project {
            override fun getName() = "<b>"

            override fun dispose() = Unit
        }
        val alerts = Alerts.OfPlatform(closing)
        repeat(2) { alerts.showIn(project, "text") }
        assertEquals("Companion for Gemini CLI in &lt;b&gt;", shown.last().title)
        assertEquals("a later one takes its place", listOf(true, false), shown.map { it.isExpired })
        Disposer.dispose(closing)
        assertTrue(shown.last().isExpired)
    }

    fun `test nothing alerts while the project's window is active`() {
        inBackground = false
        propose("a.txt", "one")
        assertEquals(emptyList<String>(), shown)
    }
}
