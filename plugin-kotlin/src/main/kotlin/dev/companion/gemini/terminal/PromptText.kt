// Writes a file's name so that a CLI reads the file, and formats text for the CLI's prompt.

package dev.companion.gemini.terminal

/** Any thread. */
object PromptText {
    /** A CLI ends a path at each of these characters. */
    private const val ENDS = " \t,;!?()[]{}"

    /** The characters that Gemini CLI and Qwen Code unescape in a path: [ENDS], further ones, and the backslash. */
    private const val ESCAPED = "$ENDS|*$`'\"#&<>~\\"

    /**
     * Returns the name of the file at [path] as a user types it in a CLI in [folder]. Neither CLI has a syntax for
     * lines, so [lines] are added as words for the model. Returns null for a name with control characters, such as a
     * line break: the CLI can't represent it, and Enter would send the prompt.
     */
    fun naming(
        path: String,
        folder: String?,
        isFolder: Boolean = false,
        lines: IntRange? = null,
        isWindows: Boolean,
    ): String? {
        if (path.any(Char::isISOControl)) return null
        val shown = relative(path, folder) + if (isFolder) "/" else ""
        val quoted = if (isWindows) inQuotes(shown) else escaped(shown)
        val words = when {
            lines == null -> ""
            lines.first == lines.last -> " (line ${lines.first})"
            else -> " (lines ${lines.first}-${lines.last})"
        }
        return "@$quoted$words"
    }

    /** Joins the names with spaces. Qwen Code does not accept an `@` directly after a word. */
    fun of(names: List<String>) = names.joinToString(" ", " ", " ")

    /**
     * Marks [text] as pasted for the terminal's program. Typed text could answer a question of the CLI: a 1 allows an
     * edit.
     */
    fun pasted(text: String) = "\u001b[200~$text\u001b[201~"

    private fun relative(path: String, folder: String?): String {
        val base = folder?.trimEnd('/') ?: return path
        return when {
            path == base -> "."
            path.startsWith("$base/") -> path.substring(base.length + 1)
            else -> path
        }
    }

    private fun escaped(path: String): String {
        val escaped = path.map { if (it in ESCAPED) "\\$it" else "$it" }.joinToString("")
        return if (escaped.endsWith('.')) escaped.dropLast(1) + "\\." else escaped
    }

    /** Gemini CLI on Windows understands quotes, Qwen Code does not. So only names that need quotes get them. */
    private fun inQuotes(path: String) = if (path.any { it in ENDS }) "\"$path\"" else path
}
