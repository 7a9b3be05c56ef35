// Converts paths between the system, the IDE and a CLI.

package dev.companion.gemini.disk

import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.roots.ProjectRootManager
import com.intellij.openapi.vfs.VirtualFile
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.platform.ifOpen
import java.io.File
import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.Paths

/**
 * Maps the CLI's path to the path that the user has opened. A CLI resolves links in its paths (`resolveToRealPath` of
 * gemini-cli-core 0.61.0). The IDE does not: a project that was opened through a link has its files and their unsaved
 * texts below the link.
 */
internal class OpenedPath private constructor(
    val path: Path,
    /** Whether the file is outside the project, by this path and by the CLI's. */
    val isOutside: Boolean,
) {
    companion object {
        /** Returns the user's path of a CLI's path; null if that is not valid. See [of]. */
        fun find(project: Project, path: String): Path? = FileOnDisk.path(path)?.let { of(project, it).path }

        /** [written] is the CLI's path. Reads the disk, so never call it on the EDT, nor under a lock. */
        fun of(project: Project, written: Path): OpenedPath {
            assertNotEdt()
            // Only the disk knows where a `..` after a link leads.
            val path = if (written == written.normalize()) written else real(written).normalize()
            val (roots, files) = project.ifOpen {
                Pair(roots(project), FileEditorManager.getInstance(project).openFiles)
            } ?: return OpenedPath(path, true)
            val opened = files.filter { it.isInLocalFileSystem }
            val own = belowRoot(roots, path)
            val name = idePath(path.toString())
            val others = opened.filter { it.canonicalPath == name }.map { Paths.get(it.path) }
            // The IDE may not know a link's new target yet.
            val shown = if (opened.any { it.path == name }) path else others.firstOrNull { isSame(it, path) } ?: own
            return OpenedPath(shown, roots.none(own::startsWith))
        }

        /** The folders of the project and its modules on local disks. In a read action. */
        fun roots(project: Project): List<Path> =
            (listOfNotNull(project.basePath) + contentRoots(project).map { it.path }).map { Paths.get(it) }.distinct()

        /** The folders of the project's modules on local disks. On the EDT or in a read action. */
        fun contentRoots(project: Project): List<VirtualFile> =
            ProjectRootManager.getInstance(project).contentRoots.filter { it.isInLocalFileSystem }

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

        /** Returns the path without links, as a CLI writes it. Its folders may be missing, too. */
        fun real(path: Path): Path {
            val folders = generateSequence(path.parent) { it.parent }
            val real = folders.firstNotNullOfOrNull { realPath(it)?.resolve(it.relativize(path)) }
            return real ?: path
        }

        fun realPath(path: Path): Path? =
            try {
                path.toRealPath()
            } catch (_: IOException) {
                null
            }
    }
}

/** Returns the path as the system and a CLI write it. */
internal fun systemPath(file: VirtualFile): String = systemPath(file.path)

/** Returns a path of the IDE as the system writes it. Elsewhere than on Windows, a name may contain a backslash. */
internal fun systemPath(path: String, separator: Char = File.separatorChar): String = path.replace('/', separator)

/** Returns a path of the system as the IDE writes it, which always separates by `/`. */
internal fun idePath(path: String, separator: Char = File.separatorChar): String = path.replace(separator, '/')
