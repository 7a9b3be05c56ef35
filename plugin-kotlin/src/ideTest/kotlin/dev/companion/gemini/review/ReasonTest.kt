// Tests the rejection with a reason: the field below the banner, and the time that it announces.

package dev.companion.gemini.review

import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.actionSystem.AnAction
import com.intellij.openapi.actionSystem.CommonDataKeys
import com.intellij.openapi.actionSystem.CommonShortcuts
import com.intellij.openapi.actionSystem.PlatformDataKeys
import com.intellij.openapi.actionSystem.ex.ActionUtil
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.testFramework.TestActionEvent
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.belowDialog
import dev.companion.gemini.core.ReasonArrival
import dev.companion.gemini.core.ResumedProposal
import dev.companion.gemini.eventOn
import dev.companion.gemini.offEdt
import dev.companion.gemini.tabs.ProposalActionIds
import dev.companion.gemini.tabs.ReasonField
import java.awt.Component
import java.awt.event.KeyEvent
import javax.swing.JLabel
import javax.swing.JTextField

class ReasonTest : DiffTestCase() {
    private fun proposeWith(reason: ReasonArrival, name: String = "a.txt", text: String = "two"): View {
        val proposed = diff(path(name), text).copy(reason = reason)
        assertEquals(Answer.DONE, answer { service.open(core, it, proposed) })
        return view(name)
    }

    private fun areas(view: View) = UIUtil.findComponentsOfType(view.component, ReasonField::class.java)

    private fun field(view: View) = UIUtil.findComponentsOfType(areas(view).single(), JTextField::class.java).single()

    private fun labels(view: View) =
        UIUtil.findComponentsOfType(areas(view).single(), JLabel::class.java).map { it.text }

    private fun ask(view: View): View = view.also { it.click("Reject\u2026") }

    private fun send(view: View, reason: String) {
        field(view).text = reason
        field(view).postActionEvent()
        UIUtil.dispatchAllInvocationEvents()
    }

    private fun isEnabled(id: String, focus: Component): Boolean {
        val action = ActionManager.getInstance().getAction(id)
        val press = KeyEvent(focus, KeyEvent.KEY_PRESSED, System.currentTimeMillis(), 0, KeyEvent.VK_ENTER, '\n')
        val event =
            action.eventOn(
                CommonDataKeys.PROJECT to project,
                PlatformDataKeys.CONTEXT_COMPONENT to focus,
                press = press,
            )
        return event.presentation.isEnabled
    }

    private fun escape(view: View): AnAction =
        ActionUtil.getActions(areas(view).single()).single {
            it.shortcutSet.shortcuts.contentEquals(CommonShortcuts.ESCAPE.shortcuts)
        }

    fun `test an empty reason decides nothing`() {
        file("a.txt", "one")
        val view = ask(proposeWith(ReasonArrival.NOW))
        send(view, " ")
        assertEquals(emptyList<String>(), calls)
        assertTrue(view.isOpen)
    }

    fun `test a reason that the server would cut is not sent, and stays`() {
        file("a.txt", "one")
        val view = ask(proposeWith(ReasonArrival.NOW))
        val longest = "x".repeat(16_384)
        send(view, "$longest!!")
        assertEquals(emptyList<String>(), calls)
        assertTrue("${labels(view)}", "2 characters too long. Shorten the text." in labels(view))
        assertEquals("$longest!!", field(view).text)
        field(view).text = longest
        assertTrue("${labels(view)}", NOW in labels(view))
        send(view, longest)
        assertEquals(listOf("rejected a.txt $longest"), calls)
    }

    fun `test a reason that was not sent is there again`() {
        file("a.txt", "one")
        val view = ask(proposeWith(ReasonArrival.NOW))
        field(view).text = "use const"
        escape(view).actionPerformed(TestActionEvent(escape(view)))
        assertEquals("use const", field(ask(view)).text)
        core.forget()
        assertEquals("${Answer.DONE} two", answer { service.close(it, path("a.txt")) })
        val next = ask(proposeWith(ReasonArrival.NOW))
        assertEquals("its tab was closed by the CLI", "use const", field(next).text)
        send(next, "use let")
        assertEquals("it was sent", "", field(ask(proposeWith(ReasonArrival.NOW))).text)
    }

    fun `test a reason that the next server got is no draft`() {
        val next = RecordingCore()
        val open = { core: RecordingCore ->
            val proposed = diff(path("a.txt"), "two").copy(diff = "1", reason = ReasonArrival.NOW)
            assertEquals(Answer.DONE, answer { service.open(core, it, proposed) })
            ask(view("a.txt"))
        }
        file("a.txt", "one")
        val view = open(core)
        core.close()
        send(view, "use const")
        assertEquals("the server has not got it", "use const", field(view).text)
        next.resumable += ResumedProposal("1", 1, ReasonArrival.NOW)
        offEdt { service.follow(next) }
        await("the decision") { !view.isOpen }
        assertEquals("rejected ${path("a.txt")} use const", next.calls.last())
        assertEquals("", field(open(next)).text)
        next.close()
    }

    fun `test a reason that no server got is a draft`() {
        file("a.txt", "one")
        val view = ask(proposeWith(ReasonArrival.NOW))
        core.close()
        send(view, "use const")
        val next = RecordingCore()
        offEdt { service.follow(next) }
        await("the end") { !view.isOpen }
        val again = diff(path("a.txt"), "two").copy(reason = ReasonArrival.NOW)
        assertEquals(Answer.DONE, answer { service.open(next, it, again) })
        assertEquals("use const", field(ask(view("a.txt"))).text)
        next.close()
    }

    fun `test keys in the field decide nothing`() {
        file("a.txt", "one")
        val view = ask(proposeWith(ReasonArrival.NOW))
        val ids = listOf(ProposalActionIds.ACCEPT, ProposalActionIds.REJECT, ProposalActionIds.REJECT_WITH_REASON)
        assertEquals(ids, ids.filter { isEnabled(it, view.right.contentComponent) })
        assertEquals(emptyList<String>(), ids.filter { isEnabled(it, field(view)) })
    }

    fun `test without the extension there is no field`() {
        file("a.txt", "one")
        val view = proposeWith(ReasonArrival.NEVER)
        assertTrue(view.banner, view.banner.endsWith("| Accept (Ctrl+Enter) | Reject"))
        assertFalse(isEnabled(ProposalActionIds.REJECT_WITH_REASON, view.right.contentComponent))
    }

    fun `test there is no field while the project shares nothing`() {
        file("a.txt", "one")
        val view = ask(proposeWith(ReasonArrival.NOW))
        field(view).text = "use const"
        service.isShared = false
        assertEquals(emptyList<ReasonField>(), areas(view))
        assertTrue(view.banner, view.banner.endsWith("| Accept (Ctrl+Enter) | Reject"))
        service.isShared = true
        assertEquals("use const", field(ask(view)).text)
    }

    fun `test a proposal that waits while the user turns sharing off takes no reason`() {
        file("a.txt", "one")
        val answer = Answer()
        belowDialog {
            service.open(core, answer, diff(path("a.txt"), "two").copy(reason = ReasonArrival.NOW))
            service.isShared = false
        }
        await("an answer") { answer.text != null }
        val view = view("a.txt")
        assertTrue(view.banner, view.banner.endsWith("| Accept (Ctrl+Enter) | Reject"))
        service.isShared = true
        assertTrue(view.banner, "| Reject\u2026" in view.banner)
    }

    fun `test a file that has changed makes the reason wait`() {
        val file = virtualFile(file("a.txt", "one"))
        val view = ask(proposeWith(ReasonArrival.NOW))
        val document = checkNotNull(FileDocumentManager.getInstance().getDocument(file))
        WriteCommandAction.runWriteCommandAction(project) { document.setText("changed") }
        UIUtil.dispatchAllInvocationEvents()
        assertTrue("the disk has the old text", NOW in labels(view))
        FileDocumentManager.getInstance().saveDocument(document)
        await("the hint") { NEXT_PROMPT in labels(view) }
    }

    fun `test a file that may have changed leaves it open`() {
        val file = file("a.txt", "one")
        val view = ask(proposeWith(ReasonArrival.NOW))
        val time = file.lastModified()
        check(file.setLastModified(time - 10_000))
        await("the hint") { UNKNOWN in labels(view) }
        check(file.setLastModified(time))
        await("the earlier hint") { NOW in labels(view) }
    }

    fun `test a later proposal in the tab keeps the text, if it takes one`() {
        file("a.txt", "one")
        val first = ask(proposeWith(ReasonArrival.NOW))
        field(first).text = "use const"
        val second = proposeWith(ReasonArrival.NEXT_PROMPT, text = "three")
        assertEquals("use const", field(second).text)
        assertTrue(NEXT_PROMPT in labels(second))
        assertTrue(areas(proposeWith(ReasonArrival.NEVER, text = "four")).isEmpty())
        assertEquals(emptyList<String>(), calls)
    }

    private companion object {
        const val NOW = "The CLI gets the reason without a new prompt, and goes on."
        const val NEXT_PROMPT = "The CLI gets the reason with your next prompt."
        const val UNKNOWN = "$NOW If the file has changed on the disk, the CLI gets it with your next prompt."
    }
}
