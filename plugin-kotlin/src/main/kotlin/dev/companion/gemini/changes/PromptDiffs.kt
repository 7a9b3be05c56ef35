// Opens the tabs with all changes of a prompt, and updates them as the list changes.

package dev.companion.gemini.changes

import com.intellij.openapi.Disposable
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.editor.colors.EditorColorsListener
import com.intellij.openapi.editor.colors.EditorColorsManager
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.FileEditorManagerListener
import com.intellij.openapi.project.Project
import com.intellij.openapi.project.ProjectManager
import com.intellij.openapi.project.ProjectManagerListener
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.laterWithoutDialog

/** For the EDT. */
class PromptDiffs(private val project: Project) : Disposable {
    private val service = ChangesService.getInstance(project)

    private val reads = AppExecutorUtil.createBoundedApplicationPoolExecutor("Changes of prompts", 1)

    /** Those whose tab opens, or gets the focus, once their changes are read. */
    private val opening = LinkedHashSet<PromptDiffFile>()
    private val open: Set<PromptDiffFile>
        get() = opening + FileEditorManager.getInstance(project).openFiles.filterIsInstance<PromptDiffFile>()

    init {
        val bus = project.messageBus.connect(this)
        bus.subscribe(ChangesListener.TOPIC, ChangesListener { open.forEach(::update) })
        bus.subscribe(ProjectManager.TOPIC, Closing())
        bus.subscribe(FileEditorManagerListener.FILE_EDITOR_MANAGER, Tabs())
        val application = ApplicationManager.getApplication().messageBus.connect(this)
        application.subscribe(EditorColorsManager.TOPIC, EditorColorsListener { open.forEach(PromptDiffFile::mark) })
    }

    /** Opens the tab of a prompt with its newest state, or goes to it. */
    internal fun show(prompt: PromptChanges) {
        assertEdt()
        val file = open.find { it.key == prompt.key } ?: PromptDiffFile(project, prompt.key, prompt.shownTitle)
        opening += file
        read(file)
    }

    private fun update(file: PromptDiffFile) {
        if (newest(file) !== file.prompt) read(file)
    }

    private fun newest(file: PromptDiffFile) = service.prompts.find { it.key == file.key }

    /**
     * Reads the changes in the background, and shows them. Of the states that come during a read, only the newest is
     * read next. A state that is past when its read ends shows, too: edits may come faster than each read.
     */
    private fun read(file: PromptDiffFile) {
        val prompt = newest(file)
        file.prompt = prompt
        reads.execute {
            if (file.prompt !== prompt) return@execute
            val diff = try {
                PromptDiff.of(file.title, prompt, project) { file.prompt != null }
            } catch (e: Throwable) {
                project.laterWithoutDialog { if (file.prompt === prompt) opening -= file }
                throw e
            }
            project.laterWithoutDialog { if (diff != null && file in open) show(file, diff) }
        }
    }

    private fun show(file: PromptDiffFile, diff: PromptDiff) {
        file.show(diff)
        if (file in opening) FileEditorManager.getInstance(project).openFile(file, true)
        opening -= file
    }

    /** Closes the tabs before the platform saves which are open: it would miss their files at the next start. */
    private inner class Closing : ProjectManagerListener {
        override fun projectClosingBeforeSave(project: Project) {
            if (project === this@PromptDiffs.project) open.forEach(FileEditorManager.getInstance(project)::closeFile)
        }
    }

    /** Lets a file have its text only while it has a tab. The user can reopen it, such as from the recent files. */
    private inner class Tabs : FileEditorManagerListener {
        override fun fileOpened(source: FileEditorManager, file: VirtualFile) {
            if (file is PromptDiffFile && file.document.textLength == 0) read(file)
        }

        override fun fileClosed(source: FileEditorManager, file: VirtualFile) {
            if (file !is PromptDiffFile) return
            opening -= file
            if (file !in open) file.release()
        }
    }

    override fun dispose() = Unit

    companion object {
        fun getInstance(project: Project): PromptDiffs = Platform.service(project, PromptDiffs::class.java)
    }
}
