// Tests the numbers of added and removed lines that the banner and the bulk questions show.

package dev.companion.gemini.tabs

import dev.companion.gemini.review.QuestionTestCase

class LineChangesTest : QuestionTestCase() {
    fun `test the banner counts lines and follows what the user types`() {
        file("a.txt", "one\ntwo\nthree\n")
        val view = propose("a.txt", "one\nzwei\nzwei\nthree\n")
        assertTrue(view.banner, "/a.txt. +2 \u22121 | " in view.banner)
        view.type("one\ntwo\n")
        await("the new numbers") { "/a.txt. +0 \u22121 | " in view.banner }
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
}
