// Converts paths between the system and the IDE, whose virtual file system always separates by `/`.

package dev.companion.gemini.disk

import com.intellij.openapi.vfs.VirtualFile
import java.io.File

/** Returns the path as the system and a CLI write it. */
internal fun systemPath(file: VirtualFile): String = systemPath(file.path)

/** Returns a path of the IDE as the system writes it. Elsewhere than on Windows, a name may contain a backslash. */
internal fun systemPath(path: String, separator: Char = File.separatorChar): String = path.replace('/', separator)

/** Returns a path of the system as the IDE writes it. */
internal fun idePath(path: String, separator: Char = File.separatorChar): String = path.replace(separator, '/')
