// Provides a project with files that a CLI changed, and a recording server.

package dev.companion.gemini.changes

import com.intellij.notification.Notification
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.command.undo.UndoManager
import com.intellij.openapi.editor.Document
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.ui.Messages
import com.intellij.openapi.ui.TestDialog
import com.intellij.openapi.vfs.LocalFileSystem
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.testFramework.PlatformTestCase
import com.intellij.testFramework.PsiTestUtil
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.core.ChangeKind
import dev.companion.gemini.core.ChangedFile
import dev.companion.gemini.core.ChangedText
import dev.companion.gemini.core.CliChange
import dev.companion.gemini.dispatchUntil
import dev.companion.gemini.shownNotifications
import java.io.File

abstract class ChangesTestCase : PlatformTestCase() {
    protected val core = RecordingCore()
    protected lateinit var root: File
    protected val service get() = ChangesService.getInstance(project)
    protected val questions = ArrayList<String>()
    private lateinit var shown: List<Notification>
    protected val notified: List<String> get() = shown.map { it.content }

    /** The calls about the test's files, by their names in the test. */
    protected val calls: List<String> get() = core.calls.map { it.replace(root.path + File.separator, "") }

    override fun setUp() {
        super.setUp()
        root = createTempDirectory().canonicalFile
        val content = checkNotNull(LocalFileSystem.getInstance().refreshAndFindFileByIoFile(root))
        PsiTestUtil.addContentRoot(module, content)
        shown = shownNotifications(project, testRootDisposable)
        answering(CANCEL)
    }

    override fun tearDown() {
        try {
            core.close()
            Messages.setTestDialog(TestDialog.DEFAULT)
        } finally {
            super.tearDown()
        }
    }

    /** Makes the user choose [choice] when asked. [meanwhile] runs while the question is open. */
    protected fun answering(choice: Int, meanwhile: () -> Unit = {}) =
        Messages.setTestDialog {
            questions += it
            meanwhile()
            choice
        }

    protected fun path(name: String): String = File(root, name).path

    protected fun onDisk(name: String): String? = File(root, name).takeIf { it.exists() }?.readText()

    protected fun virtualFile(name: String): VirtualFile =
        checkNotNull(LocalFileSystem.getInstance().refreshAndFindFileByIoFile(File(root, name)))

    protected fun document(name: String): Document =
        checkNotNull(FileDocumentManager.getInstance().getDocument(virtualFile(name)))

    /** Creates a file that the IDE knows. */
    protected fun file(name: String, text: String) {
        write(name, text)
        virtualFile(name)
    }

    /** Writes a file, as a CLI does. */
    protected fun write(name: String, text: String?) {
        val file = File(root, name)
        if (text == null) check(file.delete()) else file.apply { parentFile.mkdirs() }.writeText(text)
    }

    /** Types in an open file, without saving it. */
    protected fun type(name: String, text: String) =
        WriteCommandAction.runWriteCommandAction(project) { document(name).setText(text) }

    protected fun await(what: String, condition: () -> Boolean) = dispatchUntil(10, what, condition)

    /** A change of a file by a CLI; null means no file. */
    protected class Edit(
        val name: String,
        val before: String?,
        val left: String?,
    )

    /** Writes the CLI's texts, and reports them as the server does. */
    protected fun changed(prompt: Long, vararg edits: Edit) {
        val files = edits.map { edit ->
            write(edit.name, edit.left)
            core.texts[Triple("s", prompt, path(edit.name))] = ChangedText(edit.before, edit.left)
            val kind = when {
                edit.before == null -> ChangeKind.CREATED
                edit.left == null -> ChangeKind.DELETED
                else -> ChangeKind.CHANGED
            }
            ChangedFile(path(edit.name), kind, 1, 1, revertible = true)
        }
        service.changed(core, CliChange("s", prompt, "prompt $prompt", prompt * 1_000, files))
        await("the list") {
            val rows = service.prompts.find { it.key.number == prompt }?.rows.orEmpty()
            files.all { file -> rows.any { it.edit == file } }
        }
        await("the files") {
            edits.all { edit ->
                val disk = File(root, edit.name)
                val file = LocalFileSystem.getInstance().findFileByIoFile(disk)
                if (edit.left == null) file == null else file?.timeStamp == disk.lastModified()
            }
        }
    }

    internal fun row(prompt: Long, name: String): ChangeRow =
        service.prompts.first { it.key.number == prompt }.rows.first { it.path == path(name) }

    internal fun rows(prompt: Long): List<ChangeRow> = service.prompts.first { it.key.number == prompt }.rows

    /** Reverts the rows, and waits for the server's call. */
    internal fun revert(vararg rows: ChangeRow) {
        val before = core.calls.size
        ChangeRevert(project).revert(rows.asList())
        await("the report") { core.calls.size > before }
    }

    /** Tries a revert that the user cancels, or that fails. */
    internal fun revertInVain(vararg rows: ChangeRow) {
        val (asked, failed) = Pair(questions.size, notified.size)
        ChangeRevert(project).revert(rows.asList())
        await("a question or a message") { questions.size > asked || notified.size > failed }
        UIUtil.dispatchAllInvocationEvents()
        assertEquals(emptyList<String>(), core.calls)
    }

    /** Undoes the last command as the user does in the tool window. */
    protected fun undo() = confirming { undo(null) }

    protected fun redo() = confirming { redo(null) }

    /** The platform asks before it changes several files. */
    private fun confirming(command: UndoManager.() -> Unit) {
        val questions = questions.size
        UndoManager.getInstance(project).command()
        UIUtil.dispatchAllInvocationEvents()
        while (this.questions.size > questions) this.questions.removeLast()
    }

    protected companion object {
        /** The first choice, which changes nothing. */
        const val CANCEL = 0
        const val SHOW = 1
    }
}
