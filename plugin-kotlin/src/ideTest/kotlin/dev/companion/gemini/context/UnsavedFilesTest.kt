// Tests that the project's files are saved before a prompt, and that the others are listed.

package dev.companion.gemini.context

import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.util.io.FileUtil
import com.intellij.openapi.vfs.LocalFileSystem
import com.intellij.testFramework.LightPlatformTestCase
import dev.companion.gemini.belowDialog
import dev.companion.gemini.dispatchUntil
import java.io.File
import java.util.concurrent.atomic.AtomicReference

class UnsavedFilesTest : LightPlatformTestCase() {
    private lateinit var root: File
    private val documents get() = FileDocumentManager.getInstance()

    override fun setUp() {
        super.setUp()
        root = FileUtil.createTempDirectory("unsaved", null).canonicalFile
    }

    override fun tearDown() {
        try {
            documents.unsavedDocuments.forEach(documents::reloadFromDisk)
            FileUtil.delete(root)
        } finally {
            super.tearDown()
        }
    }

    /** Creates a file with a change that is not saved. */
    private fun unsaved(folder: File, name: String): File {
        val file = File(folder, name).apply { writeText("old") }
        val found = checkNotNull(LocalFileSystem.getInstance().refreshAndFindFileByIoFile(file))
        val document = checkNotNull(documents.getDocument(found))
        WriteCommandAction.runWriteCommandAction(getProject()) { document.setText("new") }
        return file
    }

    private var prompts = 0

    private fun list(save: Boolean, folder: String = root.path): List<String> {
        val answer = AtomicReference<List<String>>()
        UnsavedFiles(getProject()) { prompts++ }.list(listOf(folder), save) { check(answer.getAndSet(it) == null) }
        dispatchUntil(10, "the list") { answer.get() != null }
        return answer.get()
    }

    fun `test the server is brought up to date before the answer`() {
        for (save in listOf(true, false)) list(save)
        assertEquals(2, prompts)
        belowDialog { list(save = true) }
        assertEquals(3, prompts)
    }

    fun `test the files of the project are saved`() {
        val file = unsaved(root, "a.txt")
        assertEquals(emptyList<String>(), list(save = true))
        assertEquals("new", file.readText())
    }

    fun `test a project can be a whole drive`() {
        val file = unsaved(root, "a.txt")
        assertEquals(listOf(file.path), list(save = false, root.toPath().root.toString()))
    }

    fun `test without the setting the files are listed`() {
        val file = unsaved(root, "a.txt")
        assertEquals(listOf(file.path), list(save = false))
        assertEquals("old", file.readText())
    }

    fun `test a file outside the project is neither saved nor listed`() {
        val other = FileUtil.createTempDirectory("other", null).canonicalFile
        val file = unsaved(other, "a.txt")
        assertEquals(emptyList<String>(), list(save = true))
        assertEquals("old", file.readText())
        documents.unsavedDocuments.forEach(documents::reloadFromDisk)
        FileUtil.delete(other)
    }

    fun `test a file that has changed on the disk is not saved`() {
        val file = unsaved(root, "a.txt")
        file.writeText("by the CLI")
        assertEquals(listOf(file.path), list(save = true))
        assertEquals("by the CLI", file.readText())
    }
}
