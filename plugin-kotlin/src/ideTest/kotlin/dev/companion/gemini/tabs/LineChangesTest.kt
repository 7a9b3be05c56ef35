// Tests the numbers of added and removed lines that the banner and the bulk questions show.

package dev.companion.gemini.tabs

import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.editor.EditorFactory
import dev.companion.gemini.offEdt
import dev.companion.gemini.review.QuestionTestCase
import kotlin.random.Random

class LineChangesTest : QuestionTestCase() {
    fun `test the banner counts lines and follows what the user types`() {
        file("a.txt", "one\ntwo\nthree\n")
        val view = propose("a.txt", "one\nzwei\nzwei\nthree\n")
        assertTrue(view.banner, "/a.txt. +2 \u22121 | " in view.banner)
        view.type("one\ntwo\n")
        await("the new numbers") { "/a.txt. +0 \u22121 | " in view.banner }
    }

    fun `test a new file removes no line`() {
        val view = propose("a.txt", "one\ntwo")
        assertTrue(view.banner, "/a.txt. +2 \u22120 | " in view.banner)
    }

    fun `test the numbers follow the file`() {
        val file = file("a.txt", "one\n")
        val view = propose("a.txt", "one\ntwo\n")
        virtualFile(file)
        change("a.txt", "zero\none\n")
        await("the new numbers") { "+1 \u22121" in view.banner }
    }

    fun `test the question about all lists each file with its numbers`() {
        file("a.txt", "one\n")
        propose("a.txt", "two\n")
        propose("b.txt", "three\nfour")
        service.acceptAll()
        assertTrue(questions.single(), "${root.name}/a.txt  +1 \u22121\n" in questions.single())
        assertTrue(questions.single(), "${root.name}/b.txt  +2 \u22120" in questions.single())
    }

    fun `test each revert restores exactly the lines of its change`() {
        val random = Random(7)
        val text = {
            val lines = List(random.nextInt(6)) { listOf("a", "b", "c", "").random(random) }
            lines.joinToString("\n") + listOf("", "\n").random(random)
        }
        val pairs = List(1_000) { Pair(text(), if (random.nextInt(4) == 0) "" else text()) }
        val compared = offEdt {
            pairs.map { (current, proposed) ->
                checkNotNull(LineChanges.between(current, proposed))
            }
        }
        for ((texts, changes) in pairs.zip(compared)) {
            val (current, proposed) = texts
            val (old, new) = Pair(current.split("\n"), proposed.split("\n"))
            for (change in (0..7).mapNotNull { changes.at(it, inProposal = true) }.distinct()) {
                val restored = old.subList(change.startLine1, change.endLine1)
                val expected = new.take(change.startLine2) + restored + new.drop(change.endLine2)
                val (file, document) = texts.toList().map(EditorFactory.getInstance()::createDocument)
                WriteCommandAction.runWriteCommandAction(project) { changes.revert(change, file, document) }
                assertEquals("$texts $change", expected, document.text.split("\n"))
            }
        }
    }
}
