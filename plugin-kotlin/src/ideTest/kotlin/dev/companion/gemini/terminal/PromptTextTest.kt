// Tests the names of files in a prompt. An end-to-end test shows that the real CLIs find them.

package dev.companion.gemini.terminal

import com.google.gson.JsonParser
import junit.framework.TestCase
import java.io.InputStreamReader

class PromptTextTest : TestCase() {
    private fun naming(path: String, isFolder: Boolean = false, lines: IntRange? = null, isWindows: Boolean = false) =
        PromptText.naming(path, "/home/me/project", isFolder, lines, isWindows)

    @Suppress("DEPRECATION") // its replacement is newer than the platform's Gson
    fun testTheTextsAreThoseThatTheRealCLIsUnderstand() {
        val file = checkNotNull(javaClass.getResourceAsStream("/prompt-texts.json"))
        val cases = InputStreamReader(file, Charsets.UTF_8).use { JsonParser().parse(it).asJsonArray }
        assertTrue(cases.size() > 5)
        for (case in cases.map { it.asJsonObject }) {
            val path = "/home/me/project/${case["path"].asString}".trimEnd('/')
            val lines = case["lines"]?.asJsonArray?.let { it[0].asInt..it[1].asInt }
            assertEquals(case["text"].asString, naming(path, case["isFolder"]?.asBoolean == true, lines))
        }
    }

    fun testAFileOutsideTheProjectHasItsWholePath() {
        assertEquals("@/home/me/project2/a.txt", naming("/home/me/project2/a.txt"))
        assertEquals("@/etc/hosts", PromptText.naming("/etc/hosts", null, isWindows = false))
    }

    fun testANameThatEndsWithAPointOrHasABackslash() {
        assertEquals("@end\\.", naming("/home/me/project/end."))
        assertEquals("@a\\\\b", naming("/home/me/project/a\\b"))
        assertEquals("@q\\\"t", naming("/home/me/project/q\"t"))
    }

    fun testOnWindowsOnlyWhatNeedsThemHasQuotes() {
        val onWindows = { path: String -> PromptText.naming(path, "C:/project", lines = 1..2, isWindows = true) }
        assertEquals("@src/a~\$b.txt (lines 1-2)", onWindows("C:/project/src/a~\$b.txt"))
        assertEquals("@\"with blank.txt\" (lines 1-2)", onWindows("C:/project/with blank.txt"))
        assertEquals("@\"D:/a (1).txt\" (lines 1-2)", onWindows("D:/a (1).txt"))
    }

    /** Enter would send the prompt, and Escape would end the paste. */
    fun testANameWithControlCharactersHasNoText() {
        for (character in listOf("\n", "\r", "\u001b", "\u0000", "\u007f", "\u009b")) {
            assertNull(naming("/home/me/project/a${character}b"))
            assertNull(naming("/home/me/project/a${character}b", isWindows = true))
        }
    }
}
