// Owns the rule under which name a file is looked at that has several: the one under which the user has it open.

package dev.companion.gemini.diff

import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.roots.ProjectRootManager
import com.intellij.openapi.util.Computable
import com.intellij.openapi.util.io.FileUtil
import dev.companion.gemini.core.assertNotEdt
import java.io.IOException
import java.nio.file.Path
import java.nio.file.Paths

/**
 * A CLI resolves links in the paths that it names (`resolveToRealPath` of gemini-cli-core 0.61.0). The IDE does not: a
 * project that was opened by a link has its files, and what is typed in them, below the link.
 */
internal object OpenedPath {
    /** Looks at the disk: never on the EDT, nor under a lock. */
    fun of(project: Project, path: Path): Path {
        assertNotEdt()
        val real = FileUtil.toSystemIndependentName(path.toString())
        val opened = read { FileEditorManager.getInstance(project).openFiles.filter { it.isInLocalFileSystem } }
        val same = opened.filter { it.path == real }.ifEmpty { opened.filter { it.canonicalPath == real } }
        return same.firstOrNull()?.let { Paths.get(it.path) } ?: belowRoot(read { roots(project) }, path)
    }

    /** The folders of the project. For a read action. */
    fun roots(project: Project): List<Path> =
        (ProjectRootManager.getInstance(project).contentRoots.map { it.path } + listOfNotNull(project.basePath))
            .map { Paths.get(it) }

    /** [path], if it leads into one of [roots] that is a link, as that root has it. */
    fun belowRoot(roots: List<Path>, path: Path): Path {
        if (roots.any(path::startsWith)) return path
        for (root in roots) {
            val real = realPath(root) ?: continue
            if (path.startsWith(real)) return root.resolve(real.relativize(path))
        }
        return path
    }

    private fun realPath(path: Path): Path? =
        try {
            path.toRealPath()
        } catch (_: IOException) {
            null
        }

    private fun <T> read(look: () -> T): T = ApplicationManager.getApplication().runReadAction(Computable(look))
}
