// Shows the text of a file in the platform's diff viewer, without a look at the disk.

package dev.companion.gemini.target

import com.intellij.diff.contents.DocumentContent
import com.intellij.diff.util.LineCol

/**
 * The file's side. The platform's own content would check the disk whenever it is shown. With unsaved changes it would
 * then open a dialog, or lose the changes of a deleted file.
 */
internal class FileSide(private val content: DocumentContent) : DocumentContent by content {
    override fun getHighlightFile() = content.highlightFile

    override fun getNavigatable() = content.navigatable

    override fun getNavigatable(position: LineCol) = content.getNavigatable(position)

    override fun getLineSeparator() = content.lineSeparator

    override fun getCharset() = content.charset

    override fun hasBom() = content.hasBom()

    override fun onAssigned(isAssigned: Boolean) = Unit
}
