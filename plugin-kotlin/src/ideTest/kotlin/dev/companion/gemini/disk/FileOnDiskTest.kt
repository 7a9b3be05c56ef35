// Tests that the plugin and the IDE agree on which files have changed on the disk.

package dev.companion.gemini.disk

import com.intellij.openapi.util.io.FileUtil
import com.intellij.openapi.vfs.LocalFileSystem
import com.intellij.testFramework.LightPlatformTestCase
import dev.companion.gemini.offEdt
import java.io.File
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions

class FileOnDiskTest : LightPlatformTestCase() {
    fun `test a file is known whatever the permissions say to the IDE`() {
        val folder = FileUtil.createTempDirectory("known", null).canonicalFile
        try {
            // 2018.3 looks for any of the bits. Java asks the system: root may write, and an owner only by its own bit.
            for (permissions in listOf("r--r--r--", "r---w-r--")) {
                val file = File(folder, permissions).apply { writeText("text") }
                Files.setPosixFilePermissions(file.toPath(), PosixFilePermissions.fromString(permissions))
                val known = checkNotNull(LocalFileSystem.getInstance().refreshAndFindFileByIoFile(file))
                known.refresh(false, false)
                assertTrue(permissions, offEdt { FileOnDisk.isKnown(known) })
            }
        } finally {
            FileUtil.delete(folder)
        }
    }
}
