// Tests the paths between the IDE and the system, also those of Windows.

package dev.companion.gemini.disk

import com.intellij.testFramework.UsefulTestCase

class SystemPathTest : UsefulTestCase() {
    fun testOnWindowsThePathHasBackslashes() {
        for ((ide, system) in mapOf(
            "C:/Users/me/a project" to "C:\\Users\\me\\a project",
            "//wsl$/Debian/home/me" to "\\\\wsl$\\Debian\\home\\me",
        )) {
            assertEquals(system, systemPath(ide, '\\'))
            assertEquals(ide, idePath(system, '\\'))
        }
    }

    fun testElsewhereABackslashIsPartOfAName() {
        val path = "/home/me/a\\b.txt"
        assertEquals(path, systemPath(path, '/'))
        assertEquals(path, idePath(path, '/'))
    }
}
