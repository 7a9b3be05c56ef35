// Declares requests and answers about problems, in the shapes of `diagnostics` in rust/companion-protocol.

package dev.companion.gemini.core

import com.google.gson.annotations.SerializedName

/** How bad a problem is, the worst first. */
enum class Severity {
    @SerializedName("error")
    ERROR,

    @SerializedName("warning")
    WARNING,

    /** A weak warning. */
    @SerializedName("information")
    INFORMATION,

    /** A matter of taste, spelling among them. */
    @SerializedName("hint")
    HINT,
}

/** Which problems are asked for. */
data class DiagnosticsRequest(
    /** Absolute, as the CLI or the IDE wrote them. */
    val paths: List<String> = emptyList(),
    /** The least severe that are wanted. */
    val severity: Severity = Severity.INFORMATION,
)

/** The known diagnostics of the requested files. */
data class Diagnostics(val files: List<FileDiagnostics> = emptyList())

/** The problems of a file. */
data class FileDiagnostics(
    /** As it was asked for. */
    val path: String = "",
    val diagnostics: List<Diagnostic> = emptyList(),
    /** Why there may be more, as a clause: "the IDE is still indexing". */
    val incomplete: String? = null,
)

/** A problem. [message] is plain text; [source] is who found it, [code] the name of the rule. */
data class Diagnostic(
    val severity: Severity,
    val message: String,
    val range: Range,
    val source: String? = null,
    val code: String? = null,
)

/** A part of a text; [end] is the first place that is not in it. */
data class Range(
    val start: Position,
    val end: Position,
)

/** Both 1-based; [character] counts UTF-16 units from the start of the line. */
data class Position(
    val line: Int,
    val character: Int,
)
