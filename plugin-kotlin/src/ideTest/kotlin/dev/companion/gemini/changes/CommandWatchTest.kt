// Tests which files a shell command lists: several commands, folders, and files that are gone again.

package dev.companion.gemini.changes

import com.intellij.openapi.util.io.FileUtil
import com.intellij.testFramework.PsiTestUtil
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.core.CliChange
import dev.companion.gemini.core.CliCommand
import java.io.File
import java.nio.file.Files
import java.nio.file.StandardCopyOption

class CommandWatchTest : ChangesTestCase() {
    private fun report(prompt: Long, running: Boolean, lost: Boolean = false) =
        service.command(core, CliCommand("s", prompt, "prompt $prompt", prompt, running, lost))

    private fun begin(prompt: Long = 1) {
        report(prompt, running = true)
        UIUtil.dispatchAllInvocationEvents()
    }

    private fun end(prompt: Long = 1) = report(prompt, running = false)

    private fun shown(prompt: Long = 1): List<String> =
        service.prompts.filter { it.key.number == prompt }.flatMap { it.rows }.map { row ->
            "${File(row.path).relativeTo(root).path} ${row.kind}"
        }

    private fun awaitFiles(vararg files: String) = await("${files.asList()}") { shown().toSet() == files.toSet() }

    /** Runs a command from its begin to its end. */
    private fun run(command: () -> Unit) {
        begin()
        command()
        end()
    }

    fun testACommandThatBeginsWhileTheLastOneIsLookedForListsItsFiles() {
        begin()
        write("first.txt", "one")
        end()
        report(1, running = true)
        awaitFiles("first.txt CREATED")
        write("second.txt", "two")
        end()
        awaitFiles("first.txt CREATED", "second.txt CREATED")
    }

    fun testTheEndOfOneOfTwoCommandsDoesNotEndTheOther() {
        begin()
        begin()
        write("first.txt", "one")
        end()
        awaitFiles("first.txt CREATED")
        write("second.txt", "two")
        end()
        awaitFiles("first.txt CREATED", "second.txt CREATED")
    }

    fun testTheNextPromptDoesNotEndTheSearch() {
        begin()
        write("first.txt", "one")
        end()
        report(2, running = true)
        awaitFiles("first.txt CREATED")
        write("second.txt", "two")
        end(2)
        await("the second file") { "second.txt CREATED" in shown(2) }
        awaitFiles("first.txt CREATED")
    }

    fun testACommandOfASubagentIsWatchedUntilItsOwnEnd() {
        begin()
        begin(2)
        write("first.txt", "one")
        end(2)
        await("the first file") { shown(2) == listOf("first.txt CREATED") }
        write("second.txt", "two")
        end()
        awaitFiles("first.txt CREATED", "second.txt CREATED")
    }

    fun testACommandOfAPromptThatHasLeftTheListIsForgotten() {
        begin()
        service.changed(core, CliChange("s", 1))
        begin(2)
        write("first.txt", "one")
        end()
        end(2)
        await("the first file") { shown(2) == listOf("first.txt CREATED") }
        assertEquals(emptyList<String>(), shown())
    }

    fun testADeniedCommandListsNoFiles() {
        begin()
        write("pulled.txt", "by another program")
        report(1, running = false, lost = true)
        begin(2)
        write("made.txt", "one")
        end(2)
        await("the file of the next command") { "made.txt CREATED" in shown(2) }
        assertEquals(emptyList<String>(), shown())
    }

    fun testADeniedCommandDoesNotEndAnother() {
        begin()
        write("first.txt", "one")
        begin()
        report(1, running = false, lost = true)
        end()
        awaitFiles("first.txt CREATED")
    }

    fun testTheFilesOfANewFolderAreListed() {
        run {
            write("made/a.txt", "a")
            write("made/sub/b.txt", "b")
            check(File(root, "empty").mkdir())
        }
        awaitFiles("made/a.txt CREATED", "made/sub/b.txt CREATED")
    }

    fun testExcludedFoldersAreNotListed() {
        file("target/known.txt", "one")
        PsiTestUtil.addExcludedRoot(module, virtualFile("target"))
        run {
            write("target/sub/b.txt", "b")
            write(".git/objects/c", "c")
            write("made/a.txt", "a")
        }
        awaitFiles("made/a.txt CREATED")
    }

    fun testTheFilesOfADeletedFolderAreListed() {
        file("gone/a.txt", "a")
        file("gone/sub/b.txt", "b")
        run { FileUtil.delete(File(root, "gone")) }
        awaitFiles("gone/a.txt DELETED", "gone/sub/b.txt DELETED")
    }

    fun testTheFilesOfADeletedFolderHaveTheirRealPaths() {
        val real = createTempDirectory().canonicalFile
        val link = Files.createSymbolicLink(File(root, "link").toPath(), real.toPath())
        PsiTestUtil.addContentRoot(module, virtualFile("link"))
        file("link/gone/a.txt", "a")
        run { FileUtil.delete(link.resolve("gone").toFile()) }
        await("the file") { service.prompts.flatMap { it.rows }.isNotEmpty() }
        assertEquals(File(real, "gone/a.txt").path, rows(1).single().path)
    }

    fun testTheFilesOfAMovedFolderAreListedAlthoughTheyKeepTheirTimes() {
        file("old/a.txt", "a")
        File(root, "old/a.txt").setLastModified(1_000)
        File(root, "old").setLastModified(1_000)
        run { Files.move(File(root, "old").toPath(), File(root, "new").toPath(), StandardCopyOption.ATOMIC_MOVE) }
        awaitFiles("new/a.txt CREATED", "old/a.txt DELETED")
    }

    fun testAFolderThatIsReplacedHasChangedFiles() {
        file("again/a.txt", "a")
        file("again/b.txt", "b")
        run {
            FileUtil.delete(File(root, "again"))
            write("again/a.txt", "new")
        }
        awaitFiles("again/a.txt CHANGED", "again/b.txt DELETED")
    }

    fun testAFileThatIsGoneAgainIsNotListed() {
        run {
            write("made.txt", "one")
            virtualFile("made.txt")
            write("made.txt", null)
            write("stays.txt", "one")
        }
        awaitFiles("stays.txt CREATED")
    }

    fun testAFileOfAnEarlierCommandThatIsGoneAgainLeavesTheList() {
        run {
            write("made.txt", "one")
            write("stays.txt", "one")
        }
        awaitFiles("made.txt CREATED", "stays.txt CREATED")
        run { write("made.txt", null) }
        awaitFiles("stays.txt CREATED")
    }
}
