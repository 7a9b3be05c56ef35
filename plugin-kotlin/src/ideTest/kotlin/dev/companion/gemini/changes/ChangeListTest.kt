// Tests the list of changed files, without the IDE.

package dev.companion.gemini.changes

import dev.companion.gemini.RecordingCore
import dev.companion.gemini.core.ChangeKind
import dev.companion.gemini.core.ChangedFile
import dev.companion.gemini.core.CliChange
import dev.companion.gemini.core.CliCommand
import dev.companion.gemini.core.PromptKey
import junit.framework.TestCase

class ChangeListTest : TestCase() {
    private val list = ChangeList()
    private val core = RecordingCore()

    private fun shown() =
        list.prompts.map { prompt ->
            val files = prompt.rows.map { row -> if (row.edit == null) "(${row.path})" else row.path }
            "${prompt.title}: ${files.joinToString(" ")}"
        }

    private fun edit(path: String, reverted: Boolean = false) =
        ChangedFile(path, added = 1, removed = 0, revertible = true, reverted = reverted)

    private fun update(prompt: Long, vararg files: ChangedFile, session: String = "s") =
        list.update(core, CliChange(session, prompt, "prompt $prompt", prompt * 1_000, files.asList()))

    private fun command() = CliCommand("s", 1, "prompt 1", 1_000)

    private fun row(prompt: Long, path: String) =
        list.prompts.filter { it.key.number == prompt }.flatMap { it.rows }.first { it.path == path }

    fun testTheNewestPromptIsFirst() {
        assertTrue("new", update(1, edit("/b"), edit("/a")))
        assertTrue("new", update(2, edit("/a")))
        assertFalse("known", update(1, edit("/b"), edit("/a"), edit("/c")))
        assertEquals(listOf("prompt 2: /a", "prompt 1: /a /b /c"), shown())
        assertEquals("a file counts once", 3, list.fileCount)
    }

    fun testARevertedFileStaysAndDoesNotCount() {
        update(1, edit("/a", reverted = true), edit("/b"))
        assertEquals(listOf("prompt 1: /a /b"), shown())
        assertEquals(1, list.fileCount)
    }

    fun testAPromptLeavesWithAllItsFiles() {
        update(1, edit("/a"))
        list.add(core, command(), mapOf("/made" to ChangeKind.CREATED))
        assertEquals(listOf("prompt 1: /a (/made)"), shown())
        list.update(core, CliChange("s", 1, "", 0, emptyList()))
        assertEquals(emptyList<String>(), shown())
    }

    fun testOtherFilesStayAfterTheLastFileThatTheServerKnows() {
        update(1, edit("/a"), edit("/b"))
        list.add(core, command(), mapOf("/made" to ChangeKind.CREATED))
        list.keep(listOf(row(1, "/a")))
        assertEquals(listOf("prompt 1: /b (/made)"), shown())
        update(1)
        assertEquals(listOf("prompt 1: (/made)"), shown())
        list.keep(listOf(row(1, "/made")))
        assertEquals(emptyList<String>(), shown())
    }

    fun testAFileThatTheServerKnowsIsListedOnce() {
        list.add(core, command(), mapOf("/a" to ChangeKind.CHANGED, "/b" to ChangeKind.DELETED))
        assertEquals(listOf("prompt 1: (/a) (/b)"), shown())
        update(1, edit("/a"))
        assertEquals(listOf("prompt 1: /a (/b)"), shown())
        list.add(core, command(), mapOf("/a" to ChangeKind.CHANGED))
        assertEquals(listOf("prompt 1: /a (/b)"), shown())
    }

    fun testAManyFilesOfACommandAreCounted() {
        val files = (1..ChangeList.MAX_OTHERS + 7).associate { "/$it" to ChangeKind.CREATED }
        list.add(core, command(), files)
        assertEquals(ChangeList.MAX_OTHERS, list.prompts.single().rows.size)
        assertEquals(7, list.prompts.single().more)
        assertEquals(files.size, list.fileCount)
        list.add(core, command(), files)
        assertEquals("a file counts once", 7, list.prompts.single().more)
        val last = files.keys.last()
        list.add(core, command(), mapOf(last to ChangeKind.DELETED))
        assertEquals("a file that came and went does not count", 6, list.prompts.single().more)
        list.add(core, command(), mapOf("/new" to ChangeKind.CREATED))
        assertEquals(ChangeList.MAX_OTHERS, list.prompts.single().rows.size)
        assertEquals(7, list.prompts.single().more)
        update(1, edit("/new"))
        assertEquals("listed with the edits", 6, list.prompts.single().more)
        assertEquals(files.size, list.fileCount)
    }

    fun testCountedFilesTakeThePlaceOfKeptOnes() {
        val files = (1..ChangeList.MAX_OTHERS + 7).associate { "/$it" to ChangeKind.CREATED }
        list.add(core, command(), files)
        list.keep(list.prompts.single().rows.take(5))
        assertEquals(ChangeList.MAX_OTHERS, list.prompts.single().rows.size)
        assertEquals(2, list.prompts.single().more)
        list.keep(list.prompts.single().rows)
        assertEquals(2, list.prompts.single().rows.size)
        assertEquals(0, list.prompts.single().more)
        list.add(core, command(), files)
        list.keep(list.prompts.single().rows, listOf(PromptKey("s", 1)))
        assertEquals("the whole prompt is kept", emptyList<String>(), shown())
    }
}
