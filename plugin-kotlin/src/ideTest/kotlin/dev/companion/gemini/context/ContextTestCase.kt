// Provides real files, the real manager of tabs, and a recording server for tests of the context.

package dev.companion.gemini.context

import com.intellij.openapi.application.WriteAction
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.fileEditor.TextEditor
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.util.io.FileUtil
import com.intellij.openapi.vfs.LocalFileSystem
import com.intellij.openapi.vfs.VfsUtil
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.testFramework.FileEditorManagerTestCase
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.RecordingCore
import java.io.File

/** The window's tabs without a window. Unlike light tests, this uses the IDE's real manager. */
abstract class ContextTestCase : FileEditorManagerTestCase() {
    protected val core = RecordingCore()
    private lateinit var root: File

    /** The calls about the test's files, by their names in the test, without repeated carets. */
    protected val calls: List<String>
        get() {
            val last = HashMap<String, String>()
            val own = core.calls.filter { root.path in it }.map { it.replace(root.path + File.separator, "") }
            return own.filter { call ->
                val kind = call.substringBefore(' ')
                last.put(kind, call) != call || kind !in setOf("cursor", "selection")
            }
        }

    override fun setUp() {
        super.setUp()
        root = FileUtil.createTempDirectory("context", null).canonicalFile
    }

    override fun tearDown() {
        try {
            myManager.closeAllFiles()
            LocalFileSystem.getInstance().findFileByIoFile(root)?.let { write { it.delete(this) } }
        } finally {
            super.tearDown()
        }
    }

    /** Creates a file on the disk. [path] is relative. */
    protected fun file(path: String, text: String = ""): VirtualFile = file(path, text.toByteArray())

    protected fun file(path: String, content: ByteArray): VirtualFile {
        val file = root.resolve(path)
        file.parentFile.mkdirs()
        file.writeBytes(content)
        return checkNotNull(LocalFileSystem.getInstance().refreshAndFindFileByIoFile(file))
    }

    /** Starts reporting in [project], and forgets the first calls. */
    protected fun start(): EditorContext {
        val context = EditorContext(project, core)
        Disposer.register(testRootDisposable, context)
        context.start()
        forget()
        return context
    }

    protected fun forget() {
        settle()
        core.forget()
    }

    /** Runs all pending events. */
    protected fun settle() = UIUtil.dispatchAllInvocationEvents()

    /** Opens a file in a tab, as a double click in the project view does. */
    protected fun show(file: VirtualFile) {
        myManager.openFile(file, true)
        settle()
    }

    /** Opens a text file, and returns its editor. */
    protected fun edit(file: VirtualFile): Editor {
        show(file)
        return (myManager.getSelectedEditor(file) as TextEditor).editor
    }

    protected fun close(file: VirtualFile) {
        myManager.closeFile(file)
        settle()
    }

    protected fun write(change: () -> Unit) {
        WriteAction.runAndWait<Exception>(change)
        settle()
    }

    protected fun refresh(file: VirtualFile) {
        VfsUtil.markDirtyAndRefresh(false, true, true, file)
        settle()
    }
}
