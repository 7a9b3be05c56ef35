// Tests that the Local History gets a label before a proposal is written to its file.

package dev.companion.gemini.target

import com.intellij.history.integration.LocalHistoryImpl
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.review.DiffTestCase

class LocalHistoryTest : DiffTestCase() {
    private fun labels(): List<String> =
        LocalHistoryImpl
            .getInstanceImpl()
            .facade!!
            .changeListInTests
            .changesInTests
            .mapNotNull { it.label }
            .filter { root.name in it }

    fun `test an acceptance is labelled before the CLI receives it`() {
        file("a.txt", "one\n")
        val view = propose("a.txt", "two\n")
        assertEquals(emptyList<String>(), labels())
        view.click("Accept")
        assertEquals(listOf("Before an edit: The CLI, ${root.name}/a.txt"), labels())
    }

    fun `test applying is labelled`() {
        val file = file("a.txt", "one\n")
        core.delivery = Delivery.UNKNOWN
        val view = propose("a.txt", "two\n")
        view.click("Accept")
        val before = labels().size
        view.click("Apply to file")
        await("the text in the file") { file.readText() == "two\n" }
        assertEquals(before + 1, labels().size)
    }

    fun `test a rejection leaves no label`() {
        file("a.txt", "one\n")
        propose("a.txt", "two\n").click("Reject")
        assertEquals(emptyList<String>(), labels())
    }
}
