// Tests several proposals: moving between them, and bulk decisions.

package dev.companion.gemini.review

import com.intellij.util.ui.UIUtil
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.tabs.AccidentalInputFilter
import java.awt.event.KeyEvent
import java.awt.event.MouseEvent
import java.io.File
import javax.swing.JLabel

class SeveralTest : QuestionTestCase() {
    private var begun = 0L

    override fun setUp() {
        super.setUp()
        begun = System.currentTimeMillis()
    }

    private fun shown() = myManager.selectedFiles.single().name

    fun `test nothing that shows is replaced while all stays as it is`() {
        val view = propose("a.txt", "a")
        val label = UIUtil.findComponentsOfType(view.component, JLabel::class.java).first {
            "proposes" in
                it.text.orEmpty()
        }
        service.go(null, 1)
        assertTrue("what a click was aimed at is still there", view.component.isAncestorOf(label))
        view.type("a\nb")
        await("the new number of lines") { "+2 −0" in view.banner }
        assertTrue("another number of lines replaces no link", view.component.isAncestorOf(label))
    }

    fun `test what is edited or changes while the question is open stays, and is reported`() {
        listOf("a.txt", "b.txt", "c.txt").forEach { file(it, "old") }
        listOf("a.txt", "b.txt", "c.txt").forEach { propose(it, "new") }
        answering(ALL) {
            view("a.txt").type("mine")
            change("b.txt", "changed")
            UIUtil.dispatchAllInvocationEvents()
        }
        service.acceptAll()
        assertEquals(listOf("accepted c.txt 'new'"), calls)
        val text = notified.last().content
        assertTrue(text, "a.txt stays open. It was edited while the question was open." in text)
        assertTrue(text, "b.txt stays open. It has changed meanwhile." in text)
    }

    fun `test what needs a look of its own stays open, and the question says why`() {
        file("changed.txt", "old")
        propose("changed.txt", "new")
        change("changed.txt", "by hand")
        UIUtil.dispatchAllInvocationEvents()
        file("locked.txt", "old").setReadOnly()
        propose("locked.txt", "new")
        val outside = File(root.parentFile.parentFile, "outside-${System.nanoTime()}.txt")
        assertEquals(Answer.DONE, answer { service.open(it, outside.path, "new") })
        propose("a.txt", "new")
        answering(ALL)
        service.acceptAll()
        val question = questions.single()
        assertTrue(
            question,
            question.startsWith("Accept 1 proposal?\n    ${root.name}/a.txt  +1 \u22120\n3 stay open:\n"),
        )
        assertTrue(question, "changed.txt: It has changed meanwhile." in question)
        assertTrue(question, "locked.txt: It is read-only." in question)
        assertTrue(question, "${outside.name}: It is outside this project." in question)
        assertEquals(listOf("accepted a.txt 'new'"), calls)
        assertEquals(3, service.waiting().size)
        service.acceptAll()
        assertTrue(
            questions.last(),
            questions.last().startsWith("Review each proposal before you accept it."),
        )
        assertEquals(3, service.waiting().size)
    }

    fun `test all of one CLI are accepted or rejected, and no others`() {
        for ((name, cli) in listOf("a.txt" to 1, "b.txt" to 2, "c.txt" to 1, "d.txt" to 2)) propose(name, "new", cli)
        answering(ALL + 2)
        service.acceptAll()
        assertEquals(listOf("accepted b.txt 'new'", "accepted d.txt 'new'"), calls)
        answering(ALL)
        service.rejectAll()
        assertEquals(listOf("rejected a.txt", "rejected c.txt"), calls.drop(2))
    }

    fun `test a bulk decision updates the others once`() {
        val names = (1..8).map { "$it.txt" }
        for (name in names) propose(name, "new", cli = if (name == "1.txt") 1 else 2)
        var updates = 0
        val bus = project.messageBus.connect(testRootDisposable)
        bus.subscribe(ProposalListener.TOPIC, ProposalListener { updates++ })
        for (accepts in listOf(true, false)) {
            if (!accepts) names.drop(1).forEach { propose(it, "new", cli = 2) }
            updates = 0
            answering(ALL + 2)
            if (accepts) service.acceptAll() else service.rejectAll()
            UIUtil.dispatchAllInvocationEvents()
            assertEquals(1, service.waiting().size)
            // The poller of the files may report in between.
            assertTrue("$updates", updates < 5)
        }
    }

    fun `test an acceptance whose delivery is unknown is reported, and the text stays`() {
        listOf("a.txt", "b.txt").forEach { propose(it, "new") }
        core.delivery = Delivery.UNKNOWN
        answering(ALL)
        service.acceptAll()
        assertEquals(2, calls.size)
        assertEquals(2, tabs().size)
        assertTrue(notified.last().content, "a.txt stays open. The CLI no longer waits" in notified.last().content)
        service.acceptAll()
        assertEquals("decided once", 2, calls.size)
    }

    /** Returns whether the second of two clicks would decide [view], however long ago the first one was. */
    private fun decidesBySecondClick(view: View): Boolean {
        val proposal = checkNotNull(view.file.proposal)
        val click = MouseEvent(view.component, MouseEvent.MOUSE_CLICKED, begun, 0, 1, 1, 2, false)
        return !service.accidentalInput.matches(click, proposal)
    }

    fun `test the second of two clicks decides nothing that came under the mouse by the first`() {
        listOf("a.txt", "b.txt").forEach { propose(it, "new") }
        assertEquals("b.txt", shown())
        // The focus is elsewhere, so the platform selects the next tab.
        view("b.txt").click("Accept")
        assertEquals("a.txt", shown())
        assertFalse(decidesBySecondClick(view("a.txt")))
    }

    fun `test a click on a proposal does not decide what takes its place`() {
        val view = propose("a.txt", "first")
        assertTrue("nothing was decided there", decidesBySecondClick(view))
        propose("a.txt", "second")
        assertFalse("the same file's", decidesBySecondClick(view("a.txt")))
        val other = propose("b.txt", "over it")
        assertEquals("b.txt", shown())
        assertFalse("another file's", decidesBySecondClick(other))
    }

    fun `test the second click of an acceptance whose delivery is unknown does not close it`() {
        val view = propose("a.txt", "new")
        core.delivery = Delivery.UNKNOWN
        view.click("Accept")
        assertFalse(decidesBySecondClick(view))
        view.doubleClick("Close")
        assertTrue("the text is still there", view.isOpen)
    }

    fun `test a key that is held decides once, and what the user goes to is decided at once`() {
        val proposal = checkNotNull(propose("a.txt", "a").file.proposal)
        val other = checkNotNull(propose("b.txt", "b").file.proposal)
        val accidentalInput = AccidentalInputFilter()
        val key = { at: Long -> KeyEvent(JLabel(), KeyEvent.KEY_PRESSED, at, 0, KeyEvent.VK_ENTER, '\n') }
        val now = System.currentTimeMillis()
        assertFalse(accidentalInput.matches(key(now), proposal))
        accidentalInput.expect(listOf(proposal))
        assertTrue(accidentalInput.matches(key(now + 700), proposal))
        assertTrue("it is still held", accidentalInput.matches(key(now + 1_600), proposal))
        assertFalse("it has not come by itself", accidentalInput.matches(key(now + 1_700), other))
        assertFalse(accidentalInput.matches(key(now + 5_000), proposal))
    }

    fun `test what changes in one half of a split leaves the other half as unseen as it was`() {
        val proposal = checkNotNull(propose("a.txt", "a").file.proposal)
        val other = checkNotNull(propose("b.txt", "b").file.proposal)
        val accidentalInput = AccidentalInputFilter()
        accidentalInput.expect(listOf(proposal))
        accidentalInput.expect(listOf(other))
        val key = KeyEvent(JLabel(), KeyEvent.KEY_PRESSED, System.currentTimeMillis(), 0, KeyEvent.VK_ENTER, '\n')
        assertTrue(accidentalInput.matches(key, proposal))
        assertTrue(accidentalInput.matches(key, other))
    }
}
