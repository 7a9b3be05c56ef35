// Is the base of the plugin's tabs.

package dev.companion.gemini.platform

import com.intellij.openapi.fileEditor.DocumentsEditor
import com.intellij.openapi.fileEditor.FileEditor
import com.intellij.openapi.fileEditor.FileEditorLocation
import com.intellij.openapi.fileEditor.FileEditorState
import com.intellij.openapi.util.UserDataHolderBase
import com.intellij.openapi.vfs.VirtualFile
import java.beans.PropertyChangeListener

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
