// Provides the base of the plugin's tabs: of their files, editors and providers.

package dev.companion.gemini.platform

import com.intellij.openapi.fileEditor.DocumentsEditor
import com.intellij.openapi.fileEditor.FileEditor
import com.intellij.openapi.fileEditor.FileEditorLocation
import com.intellij.openapi.fileEditor.FileEditorPolicy
import com.intellij.openapi.fileEditor.FileEditorProvider
import com.intellij.openapi.fileEditor.FileEditorState
import com.intellij.openapi.fileEditor.impl.EditorTabTitleProvider
import com.intellij.openapi.fileTypes.FileType
import com.intellij.openapi.project.DumbAware
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.UserDataHolderBase
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.testFramework.LightVirtualFile
import java.beans.PropertyChangeListener
import javax.swing.Icon

/** A tab that the platform neither saves nor restores. */
abstract class StaticFileEditor(private val file: VirtualFile) :
    UserDataHolderBase(),
    FileEditor,
    DocumentsEditor {
    override fun getFile(): VirtualFile = file

    override fun setState(state: FileEditorState) = Unit

    override fun isModified() = false

    override fun isValid() = file.isValid

    override fun selectNotify() = Unit

    override fun deselectNotify() = Unit

    override fun addPropertyChangeListener(listener: PropertyChangeListener) = Unit

    override fun removePropertyChangeListener(listener: PropertyChangeListener) = Unit

    override fun getBackgroundHighlighter() = null

    override fun getCurrentLocation(): FileEditorLocation? = null
}

/** Opens tabs that hide the platform's own editors for their files. */
abstract class StaticFileEditorProvider(private val id: String) :
    FileEditorProvider,
    DumbAware {
    override fun getEditorTypeId() = id

    override fun getPolicy() = FileEditorPolicy.HIDE_DEFAULT_EDITOR
}

/** The file of a tab. It is in memory only, so no tab is restored after a restart. */
abstract class TabFile internal constructor(
    name: String,
    type: String,
    description: () -> String,
    icon: Icon?,
) : LightVirtualFile(name, Type(type, description, icon), "") {
    /** The title of the tab. Any thread. */
    internal abstract val tabTitle: String

    init {
        isWritable = false
        Platform.forbidPreview(this)
    }

    /** Is unknown to other plugins: no plugin opens a tab for a file of this type, indexes it or highlights it. */
    private class Type(
        private val name: String,
        private val description: () -> String,
        private val icon: Icon?,
    ) : FileType {
        override fun getName() = name

        override fun getDescription(): String = description()

        override fun getDefaultExtension() = ""

        override fun getIcon() = icon

        override fun isBinary() = true

        override fun isReadOnly() = true

        override fun getCharset(file: VirtualFile, content: ByteArray): String? = null
    }
}

/** Any thread. */
class TabTitleProvider :
    EditorTabTitleProvider,
    DumbAware {
    override fun getEditorTabTitle(project: Project, file: VirtualFile): String? = (file as? TabFile)?.tabTitle
}
