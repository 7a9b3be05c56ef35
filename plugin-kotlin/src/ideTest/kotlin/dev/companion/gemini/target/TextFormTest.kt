// Tests line endings and BOM.

package dev.companion.gemini.target

import junit.framework.TestCase

class TextFormTest : TestCase() {
    private fun form(text: String) = TextForm.of(text)

    fun `test the line ending is the text's own, and one of Windows' makes it Windows', as the CLI has it`() {
        val endings = mapOf(
            "\n" to listOf("a\nb", "a", ""),
            "\r\n" to listOf("a\r\nb", "a\nb\r\nc\n"),
            "\r" to listOf("a\rb"),
        )
        for ((ending, texts) in endings) for (text in texts) assertEquals(text, ending, form(text).lineEnding)
    }

    fun `test a BOM counts at the start only`() {
        assertTrue(form("\uFEFFa").bom)
        assertFalse(form("a\uFEFF").bom)
        assertFalse(form("").bom)
    }

    fun `test an editor gets neither BOM nor CR`() {
        assertEquals("a\nb\nc\n", TextForm.plain("\uFEFFa\r\nb\rc\n"))
        assertEquals("a\uFEFF", TextForm.plain("a\uFEFF"))
    }

    fun `test what an editor holds comes back in the form`() {
        for (text in listOf("a\nb\n", "a\r\nb\r\n", "a\rb", "\uFEFFa\r\nb", "\uFEFF", "", "x", "\n\n")) {
            assertEquals(text, form(text).apply(TextForm.plain(text)))
        }
    }
}
