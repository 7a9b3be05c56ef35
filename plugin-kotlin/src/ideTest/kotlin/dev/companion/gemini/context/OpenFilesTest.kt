// Tests opening, closing and switching tabs.

package dev.companion.gemini.context

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.components.impl.ComponentManagerImpl
import com.intellij.openapi.editor.EditorFactory
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.TextEditor
import com.intellij.openapi.fileEditor.impl.FileEditorManagerImpl
import com.intellij.openapi.fileTypes.PlainTextFileType
import com.intellij.openapi.util.ActionCallback
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.vfs.JarFileSystem
import com.intellij.testFramework.LightVirtualFile
import com.intellij.ui.docking.DockManager
import java.io.ByteArrayOutputStream
import java.util.zip.ZipEntry
import java.util.zip.ZipOutputStream
import javax.swing.SwingConstants

class OpenFilesTest : ContextTestCase() {
    fun `test a file that is opened has the focus, with its caret`() {
        start()
        show(file("a.txt"))
        assertSameElements(calls, "opened a.txt", "focused a.txt", "cursor a.txt 1 1", "selection a.txt ''")
    }

    fun `test going to another tab reports the caret and the selection there`() {
        val a = file("a.txt", "one\ntwo")
        start()
        edit(a).run {
            caretModel.moveToOffset(7)
            selectionModel.setSelection(4, 7)
        }
        show(file("b.txt"))
        forget()
        show(a)
        assertEquals(listOf("focused a.txt", "cursor a.txt 2 4", "selection a.txt 'two'"), calls)
    }

    fun `test closing the tab closes the file`() {
        val a = file("a.txt")
        val b = file("b.txt")
        start()
        show(a)
        show(b)
        forget()
        close(b)
        assertEquals(listOf("closed b.txt"), calls)
        forget()
        close(a)
        assertEquals(listOf("closed a.txt"), calls)
    }

    fun `test a file that is closed again before the focus has settled does not count as open`() {
        myManager = object : FileEditorManagerImpl(project, DockManager.getInstance(project)) {
            /** Without a window these events do not wait for the focus, so the test delays them. */
            override fun notifyPublisher(runnable: Runnable): ActionCallback {
                ApplicationManager.getApplication().invokeLater(runnable)
                return ActionCallback.DONE
            }
        }
        (project as ComponentManagerImpl).registerComponentInstance(FileEditorManager::class.java, myManager)
        val file = file("a.txt")
        start()
        myManager.openFile(file, true)
        myManager.closeFile(file)
        settle()
        assertEquals(listOf("closed a.txt"), calls)
    }

    fun `test a file in two splits is closed with the last of them`() {
        val file = file("a.txt")
        start()
        show(file)
        val first = myManager.windows.single()
        val second = checkNotNull(first.split(SwingConstants.VERTICAL, true, file, true))
        settle()
        forget()
        second.closeFile(file)
        settle()
        assertDoesntContain(calls, "closed a.txt")
        forget()
        first.closeFile(file)
        settle()
        assertEquals(listOf("closed a.txt"), calls)
    }

    fun `test an image is open and has the focus, but no caret`() {
        val png = "89504e470d0a1a0a0000000d49484452".chunked(2).map { it.toInt(16).toByte() }.toByteArray()
        val image = file("image.png", png)
        start()
        show(image)
        assertFalse("shown as text", myManager.getSelectedEditor(image) is TextEditor)
        assertSameElements(calls, "opened image.png", "focused image.png")
    }

    fun `test files of all types, and of none, have a caret`() {
        start()
        for (name in listOf("a.xml", "a.html", "a.json", "a.undelivered-of", "Makefile", ".hidden")) {
            forget()
            show(file(name, "x"))
            assertSameElements(
                calls,
                "opened $name",
                "focused $name",
                "cursor $name 1 1",
                "selection $name ''",
            )
        }
    }

    fun `test a tab without a file, such as a proposal, is not reported, and the file before it stays focused`() {
        val a = file("a.txt", "text")
        val light = LightVirtualFile("light.txt", PlainTextFileType.INSTANCE, "text")
        start()
        val editor = edit(a)
        editor.selectionModel.setSelection(0, 4)
        forget()
        edit(light).run {
            caretModel.moveToOffset(2)
            selectionModel.setSelection(1, 2)
        }
        settle()
        assertEmpty(core.calls)

        WriteCommandAction.runWriteCommandAction(project) { editor.document.insertString(2, "s of ") }
        settle()
        assertEquals(listOf("cursor a.txt 1 1", "selection a.txt 'tes of xt'"), calls)
        forget()
        close(light)
        assertEmpty(core.calls)
    }

    fun `test a file inside an archive is not reported`() {
        val archive = file("a.zip", zip("inside.txt"))
        val inside = checkNotNull(JarFileSystem.getInstance().refreshAndFindFileByPath("${archive.path}!/inside.txt"))
        start()
        edit(inside).caretModel.moveToOffset(1)
        settle()
        assertEmpty(core.calls)
    }

    fun `test an editor that is no tab, such as a preview of the same file, is not reported`() {
        val file = file("a.txt", "text")
        start()
        val document = edit(file).document
        forget()
        val editors = EditorFactory.getInstance()
        val preview = editors.createEditor(document, project)
        try {
            preview.caretModel.moveToOffset(2)
            preview.selectionModel.setSelection(0, 2)
            settle()
            assertEmpty(calls)
        } finally {
            editors.releaseEditor(preview)
        }
    }

    fun `test files that are open already are reported at the start, and the selected one has the focus`() {
        val b = file("b.txt", "text")
        show(file("a.txt"))
        edit(b).caretModel.moveToOffset(1)
        show(file("c.txt"))
        show(b)
        show(LightVirtualFile("light.txt", PlainTextFileType.INSTANCE, ""))
        show(b)
        Disposer.register(testRootDisposable, EditorContext(project, core).apply { start() })
        settle()
        assertEquals("opened b.txt", calls.first())
        assertSameElements(calls.take(3), "opened a.txt", "opened b.txt", "opened c.txt")
        assertEquals(listOf("focused b.txt", "cursor b.txt 1 2", "selection b.txt ''"), calls.drop(3))
        assertSize(calls.size, core.calls)
    }

    fun `test nothing is reported any more once it is disposed`() {
        val context = start()
        val file = file("a.txt", "text")
        val editor = edit(file)
        editor.caretModel.moveToOffset(2)
        core.forget()
        Disposer.dispose(context)
        settle()
        editor.caretModel.moveToOffset(1)
        show(file("b.txt"))
        write { file.rename(this, "c.txt") }
        assertEmpty(core.calls)
    }

    private fun zip(entry: String): ByteArray {
        val bytes = ByteArrayOutputStream()
        ZipOutputStream(bytes).use {
            it.putNextEntry(ZipEntry(entry))
            it.write("text".toByteArray())
        }
        return bytes.toByteArray()
    }
}
