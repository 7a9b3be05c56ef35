// Shows a path. A model chose it, so it is never HTML, and its characters can't change the look of others.

package dev.companion.gemini.target

import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Key
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.disk.OpenedPath
import java.nio.file.Path
import java.nio.file.Paths

internal object ShownPath {
    private val UNSEEN = setOf(
        CharCategory.CONTROL,
        CharCategory.FORMAT,
        CharCategory.LINE_SEPARATOR,
        CharCategory.PARAGRAPH_SEPARATOR,
    )

    /** The real path of the project's folder. */
    private val REAL_ROOT = Key.create<Path>("dev.companion.gemini.realRoot")

    /** Finds the real path of the project's folder, because a CLI names files by their real paths. Reads the disk. */
    fun findRoot(project: Project) {
        assertNotEdt()
        project.putUserData(REAL_ROOT, project.basePath?.let { OpenedPath.realPath(Paths.get(it)) })
    }

    /** The path within the project, or the whole path outside it. */
    fun of(project: Project, path: Path): String {
        val root = project.basePath?.let(path.fileSystem::getPath)
        return plain(within(listOfNotNull(root, project.getUserData(REAL_ROOT)), path).toString())
    }

    /** The name of the file at a valid path. */
    fun name(path: String): String = plain(Paths.get(path).fileName.toString())

    fun within(roots: List<Path>, path: Path): Path {
        val root = roots.find(path::startsWith) ?: return path
        return root.relativize(path)
    }

    /** [text] without characters that change the direction of writing, break a line or are invisible. */
    fun plain(text: String): String =
        text.map { if (it.category in UNSEEN) "\\u%04X".format(it.code) else it.toString() }.joinToString("")
}
