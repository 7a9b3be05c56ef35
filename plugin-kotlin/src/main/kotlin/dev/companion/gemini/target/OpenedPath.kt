// Finds the path of a file that the user has open, if the file has several paths.

package dev.companion.gemini.target

import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.roots.ProjectRootManager
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.disk.idePath
import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.Paths

/**
 * Maps the CLI's path to the path of the open file. A CLI resolves links in its paths (`resolveToRealPath` of
 * gemini-cli-core 0.61.0). The IDE does not: a project that was opened through a link has its files and their unsaved
 * texts below the link.
 */
internal class OpenedPath private constructor(
    val path: Path,
    /** Whether the file is outside the project, by this path and by the CLI's. */
    val isOutside: Boolean,
) {
    companion object {
        /** Reads the disk, so never call it on the EDT, nor under a lock. */
        fun of(project: Project, path: Path): OpenedPath {
            assertNotEdt()
            val (roots, opened) = project.read {
                Pair(roots(project), FileEditorManager.getInstance(project).openFiles.filter { it.isInLocalFileSystem })
            }
            val own = belowRoot(roots, path)
            val name = idePath(path.toString())
            val others = opened.filter { it.canonicalPath == name }.map { Paths.get(it.path) }
            val shown = when {
                opened.any { it.path == name } -> path

                // The IDE may not know a link's new target yet.
                else -> others.firstOrNull { isSame(it, path) } ?: own
            }
            return OpenedPath(shown, roots.none(own::startsWith))
        }

        private fun roots(project: Project): List<Path> =
            (ProjectRootManager.getInstance(project).contentRoots.map { it.path } + listOfNotNull(project.basePath))
                .map { Paths.get(it) }

        /** Returns [path] below the root's own path, if the root is a link and [path] leads into it. */
        fun belowRoot(roots: List<Path>, path: Path): Path {
            if (roots.any(path::startsWith)) return path
            for (root in roots) {
                val real = realPath(root) ?: continue
                if (path.startsWith(real)) return root.resolve(real.relativize(path))
            }
            return path
        }

        private fun isSame(path: Path, other: Path): Boolean =
            try {
                Files.isSameFile(path, other)
            } catch (_: IOException) {
                false
            }

        private fun realPath(path: Path): Path? =
            try {
                path.toRealPath()
            } catch (_: IOException) {
                null
            }
    }
}
