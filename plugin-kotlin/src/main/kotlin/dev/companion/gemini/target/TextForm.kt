// Describes a file's text on the disk: its line ending and its BOM.

package dev.companion.gemini.target

import com.intellij.openapi.vfs.VirtualFile
import dev.companion.gemini.CompanionBundle.message

/**
 * The editor holds text without a BOM and with `\n` alone; the CLI reads and writes a file's bytes unchanged, as UTF-8.
 *
 * So the returned text has the file's own line ending, and U+FEFF at its start if and only if the file has a BOM. The
 * CLI's own proposal keeps neither: `write_file` proposes the model's text, without a BOM, and `replace` proposes `\n`
 * and restores `\r\n` when it writes (edit.js and write-file.js of gemini-cli-core 0.61.0).
 */
internal data class TextForm(
    val lineEnding: String,
    val bom: Boolean,
) {
    /** Converts an editor's [text] to its form on the disk. */
    fun apply(text: CharSequence): String {
        val lines = if (lineEnding == "\n") text.toString() else text.toString().replace("\n", lineEnding)
        return if (bom) BOM + lines else lines
    }

    companion object {
        private const val BOM = "\uFEFF"

        /** A BOM on the disk. */
        val UTF8_BOM: ByteArray = BOM.toByteArray()

        /**
         * Returns the form of a text without a file. A text of one line does not determine its line ending, so it is
         * `\n`.
         */
        fun of(text: String): TextForm {
            val lineEnding = when {
                "\r\n" in text -> "\r\n"
                '\n' in text || '\r' !in text -> "\n"
                else -> "\r"
            }
            return TextForm(lineEnding, text.startsWith(BOM))
        }

        /** Returns the form of a file. One of a single line has [lineEnding]. */
        fun of(file: VirtualFile, lineEnding: String = "\n"): TextForm =
            TextForm(file.detectedLineSeparator ?: lineEnding, file.bom?.contentEquals(UTF8_BOM) == true)

        /**
         * Returns why [file] can't have this text, for the user. The platform would replace characters that the
         * encoding lacks by question marks.
         */
        fun encodingProblem(file: VirtualFile, text: CharSequence): String? {
            val charset = file.charset
            if (charset.canEncode() && charset.newEncoder().canEncode(text)) return null
            return message("diff.error.encoding", charset.displayName())
        }

        /** Returns whether the IDE writes [text] to [file] as other bytes than the CLI, for which every file is UTF-8. */
        fun isRecoded(file: VirtualFile, text: CharSequence): Boolean {
            val charset = file.charset
            if (charset == Charsets.UTF_8) return false
            return !charset.canEncode() || !text.toString().run { toByteArray(charset).contentEquals(toByteArray()) }
        }

        /** Converts [text] to an editor's form: without a BOM, and with `\n` for `\r\n` and for a single `\r`. */
        fun plain(text: String): String = lineFeeds(text).replace('\r', '\n')

        /** Removes a BOM, and converts `\r\n` to `\n`. Keeps a single `\r`. */
        fun lineFeeds(text: String): String =
            text.removePrefix(BOM).let { if ('\r' in it) it.replace("\r\n", "\n") else it }
    }
}
