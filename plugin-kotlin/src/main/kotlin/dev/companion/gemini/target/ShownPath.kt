// Shows a path. A model chose it, so it is never HTML, and its characters can't change the look of others.

package dev.companion.gemini.target

import com.intellij.openapi.project.Project
import java.nio.file.Path

internal object ShownPath {
    private val UNSEEN = setOf(
        CharCategory.CONTROL,
        CharCategory.FORMAT,
        CharCategory.LINE_SEPARATOR,
        CharCategory.PARAGRAPH_SEPARATOR,
    )

    /** The path within the project, or the whole path outside it. */
    fun of(project: Project, path: Path): String {
        val root = project.basePath?.let(path.fileSystem::getPath)
        return plain((if (root != null && path.startsWith(root)) root.relativize(path) else path).toString())
    }

    /**
     * [text] without characters that change the direction of writing, break a line or are
     * invisible.
     */
    fun plain(text: String): String =
        text.map { if (it.category in UNSEEN) "\\u%04X".format(it.code) else it.toString() }.joinToString("")
}
