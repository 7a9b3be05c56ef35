// Tests the notifications that a CLI waits or has finished.

package dev.companion.gemini.project

import com.intellij.notification.Notification
import com.intellij.notification.NotificationAction
import com.intellij.notification.NotificationDisplayType
import com.intellij.notification.impl.NotificationsConfigurationImpl
import com.intellij.openapi.Disposable
import com.intellij.openapi.wm.ToolWindowAnchor
import com.intellij.openapi.wm.ToolWindowManager
import com.intellij.testFramework.TestActionEvent
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.review.Alerts
import dev.companion.gemini.shownNotifications

class CliNoticesTest : ServiceTestCase() {
    private lateinit var shown: List<Notification>
    private val alerted = ArrayList<String>()
    private var inBackground = false
    private lateinit var notices: CliNotices
    private val core = RecordingCore()

    override fun setUp() {
        super.setUp()
        shown = shownNotifications(project, testRootDisposable)
        val alerts = object : Alerts {
            override val isInBackground get() = inBackground

            override fun show(title: String, text: String) {
                alerted += "$title: $text"
            }

            override fun onReturn(parent: Disposable, returned: () -> Unit) = Unit
        }
        notices = CliNotices(project, alerts)
    }

    private fun waiting(question: String = "Run <touch made>?", session: String = "one") {
        notices.waiting(core, session, question)
        UIUtil.dispatchAllInvocationEvents()
    }

    private fun finished(seconds: Long, session: String = "one") {
        notices.finished(session, seconds)
        UIUtil.dispatchAllInvocationEvents()
    }

    fun testAQuestionIsShown() {
        waiting()
        assertEquals("The CLI waits for your answer: Run &lt;touch made&gt;?", shown.single().content)
        assertEquals("the IDE is in front", emptyList<String>(), alerted)
        waiting("x".repeat(1_000))
        assertTrue("it is over", shown.first().isExpired)
        assertTrue(shown.last().content, shown.last().content.endsWith("xx\u2026"))
    }

    fun testTheSystemSaysSoWithoutTheQuestion() {
        inBackground = true
        waiting()
        finished(11)
        val title = "Companion for Gemini CLI"
        val texts = listOf("The CLI waits for your answer in its terminal.", "The CLI has finished after 11 s.")
        assertEquals(texts.map { "$title: $it" }, alerted)
    }

    fun testAShortTurnIsNotShownAndEndsTheQuestion() {
        waiting()
        finished(9)
        assertTrue(shown.single().isExpired)
        finished(10)
        assertEquals("The CLI has finished after 10 s.", shown.last().content)
    }

    fun testAQuestionStaysUntilItIsAnsweredAndTheEndOfATurnDoesNot() {
        waiting()
        finished(60)
        val types = shown.map { NotificationsConfigurationImpl.getSettings(it.groupId).displayType }
        assertEquals(listOf(NotificationDisplayType.STICKY_BALLOON, NotificationDisplayType.BALLOON), types)
    }

    fun testAnAnsweredQuestionGoes() {
        waiting()
        notices.answered("another")
        UIUtil.dispatchAllInvocationEvents()
        assertFalse(shown.single().isExpired)
        notices.answered("one")
        UIUtil.dispatchAllInvocationEvents()
        assertTrue(shown.single().isExpired)
    }

    fun testALongTurnIsShownInMinutes() {
        finished(754)
        assertEquals("The CLI has finished after 12 min 34 s.", shown.last().content)
    }

    fun testTheEndOfOneCLILeavesTheQuestionOfAnother() {
        waiting("First?", session = "one")
        waiting("Second?", session = "two")
        finished(60, session = "three")
        finished(9, session = "two")
        assertEquals(listOf(false, true, false), shown.map { it.isExpired })
        finished(60, session = "one")
        assertEquals(listOf(true, true, false, false), shown.map { it.isExpired })
    }

    fun testTheSettingTurnsItOff() {
        inBackground = true
        set { notifyCli = false }
        waiting()
        finished(60)
        assertEquals(0, shown.size + alerted.size)
    }

    fun testTheActionLeadsToTheTerminal() {
        waiting()
        assertEquals("the IDE has no terminal", 0, shown.single().actions.size)
        val windows = ToolWindowManager.getInstance(project)
        windows.registerToolWindow("Terminal", false, ToolWindowAnchor.BOTTOM)
        waiting()
        val action = shown.last().actions.single() as NotificationAction
        assertEquals("Go to terminal", action.templatePresentation.text)
        action.actionPerformed(TestActionEvent(action), shown.last())
        assertTrue(shown.last().isExpired)
        windows.unregisterToolWindow("Terminal")
    }
}
