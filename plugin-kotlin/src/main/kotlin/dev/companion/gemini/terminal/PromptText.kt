// Names a file so that a CLI reads it, and puts the name into its prompt.

package dev.companion.gemini.terminal

/** Any thread. */
object PromptText {
    /** At each of these a CLI takes the path to be at its end. */
    private const val ENDS = " \t,;!?()[]{}"

    /**
     * Further characters that Gemini CLI and Qwen Code unescape in a path, besides [ENDS]; and the
     * backslash itself.
     */
    private const val ESCAPED = "$ENDS|*$`'\"#&<>~\\"

    /**
     * Names the file at [path] as a user of a CLI in [folder] does. Neither CLI has a syntax for
     * lines, so [lines] are added in words, for the model. Null for a name with control characters,
     * such as a line break: the CLI has no way to write it, and Enter would send the prompt.
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

    /** One after the other, between blanks: Qwen Code takes no `@` for a path's that follows a word. */
    fun of(names: List<String>) = names.joinToString(" ", " ", " ")

    /**
     * Marks [text] as pasted for the terminal's program. Typed text could answer a question of the
     * CLI: a 1 allows an edit.
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

    /**
     * On Windows, Gemini CLI takes quotes and Qwen Code does not, so only names that need quotes
     * have them.
     */
    private fun inQuotes(path: String) = if (path.any { it in ENDS }) "\"$path\"" else path
}
