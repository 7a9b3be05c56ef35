// Declares requests and answers about diagnostics, in the shapes of `diagnostics` in rust/companion-protocol.

package dev.companion.gemini.core

import com.google.gson.annotations.SerializedName

/** The severity of a diagnostic, the most severe first. */
enum class Severity {
    @SerializedName("error")
    ERROR,

    @SerializedName("warning")
    WARNING,

    /** A weak warning. */
    @SerializedName("information")
    INFORMATION,

    /** A matter of style or spelling. */
    @SerializedName("hint")
    HINT,
}

/** Report the diagnostics of files, for their texts on the disk. After 2.5 s report only the known ones. */
data class DiagnosticsRequest(
    /** Absolute, as the CLI or the IDE wrote them. */
    val paths: List<String> = emptyList(),
    /** The least severe diagnostics to return. */
    val severity: Severity = Severity.INFORMATION,
) : EditorMessage.Request<Diagnostics>()

/** The known diagnostics of the requested files. */
data class Diagnostics(val files: List<FileDiagnostics> = emptyList())

data class FileDiagnostics(
    /** The path from the request, byte for byte. */
    val path: String = "",
    val diagnostics: List<Diagnostic> = emptyList(),
    /** Why the list may be incomplete, as a clause: "the IDE is still indexing". */
    val incomplete: String? = null,
)

/** A diagnostic. [message] is plain text, [source] the tool that found it, [code] the name of the rule. */
data class Diagnostic(
    val severity: Severity,
    val message: String,
    val range: Range,
    val source: String? = null,
    val code: String? = null,
)

/** A part of a text. [end] is the first position after it. */
data class Range(
    val start: Position,
    val end: Position,
)

/** Both 1-based; [character] counts UTF-16 units from the start of the line. */
data class Position(
    val line: Int,
    val character: Int,
)
