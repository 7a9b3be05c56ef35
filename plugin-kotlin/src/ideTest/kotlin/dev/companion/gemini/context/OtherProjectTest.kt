// Tests that two windows do not report each other's editors.

package dev.companion.gemini.context

import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.OpenFileDescriptor
import com.intellij.openapi.project.Project
import com.intellij.openapi.project.ex.ProjectManagerEx
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.vfs.LocalFileSystem
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.testFramework.PlatformTestCase
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.RecordingCore

class OtherProjectTest : PlatformTestCase() {
    private val core = RecordingCore()

    private fun file(): VirtualFile {
        val file = createTempFile("a.txt", "text")
        return checkNotNull(LocalFileSystem.getInstance().refreshAndFindFileByIoFile(file))
    }

    /** Opens [file], moves the caret in it and selects some of it. */
    private fun edit(project: Project, file: VirtualFile) {
        val manager = FileEditorManager.getInstance(project)
        val editor = checkNotNull(manager.openTextEditor(OpenFileDescriptor(project, file), true))
        editor.caretModel.moveToOffset(2)
        editor.selectionModel.setSelection(0, 2)
        UIUtil.dispatchAllInvocationEvents()
    }

    fun `test what happens in the editors of another project is not reported`() {
        val file = file()
        Disposer.register(testRootDisposable, EditorContext(project, core).apply { start() })
        val manager = ProjectManagerEx.getInstanceEx()
        val other = checkNotNull(manager.newProject("other", createTempDirectory().path, false, false))
        manager.openProject(other)
        try {
            core.forget()
            edit(other, file)
            assertEmpty(core.calls)
            edit(project, file)
            assertContainsElements(core.calls, "focused ${file.path}", "selection ${file.path} 'te'")
            core.forget()
            edit(other, file)
            FileEditorManager.getInstance(other).closeFile(file)
            assertEmpty(core.calls)
        } finally {
            manager.forceCloseProject(other, true)
        }
    }
}
