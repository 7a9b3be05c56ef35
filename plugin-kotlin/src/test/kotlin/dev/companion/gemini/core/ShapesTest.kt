// Tests that JSON has the same shape on both sides of the boundary.

package dev.companion.gemini.core

import com.google.gson.Gson
import com.google.gson.GsonBuilder
import com.google.gson.JsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import java.nio.file.Files
import java.nio.file.Path

class ShapesTest {
    private val gson = GsonBuilder().serializeNulls().create()

    /** The shape in Rust's own tests. */
    private fun rust(name: String): JsonObject {
        val file = Path.of("../rust/companion-protocol/tests", name)
        return gson.fromJson(Files.newBufferedReader(file), JsonObject::class.java)
    }

    @Test
    fun `each setting of Rust is one of the plugin's, with its default`() {
        val known = rust("settings.json")
        val settings = gson.toJsonTree(ServerSettings()).asJsonObject
        // The server reads the IDE's process itself. The other three have no page in the IDE.
        val unused = setOf("idePid", "port", "listenOnAllAddresses", "listenOrFail")
        assertEquals(known.keySet(), settings.keySet() + unused)
        for ((name, default) in settings.entrySet()) {
            if (!default.isJsonNull) assertEquals(known[name], default, name)
        }
    }

    @Test
    fun `a status is Rust's`() {
        val expected = ServerStatus(
            port = 4001,
            listening = listOf("127.0.0.1:4001", "[fd00::1]:4001"),
            notListening = listOf("can't listen on 192.0.2.1"),
            discoveryFiles = listOf(DiscoveryFile("gemini", "/tmp/file.json", inPlace = true)),
            clis = listOf(ConnectedCli("Gemini CLI", "0.61.0", awaitsHook = true)),
            openDiffs = 3,
            privateFiles = mapOf("/a.key" to "An ignore file lists it."),
        )
        assertEquals(expected, gson.fromJson(rust("status.json"), ServerStatus::class.java))
        val known = gson.toJsonTree(expected).asJsonObject.keySet()
        assertEquals(known, rust("status.json").keySet().intersect(known))
    }

    @Test
    fun `problems are Rust's`() {
        val shapes = rust("diagnostics.json")
        val asked = DiagnosticsRequest(listOf("/a", "/b"), Severity.INFORMATION)
        assertEquals(asked, gson.fromJson(shapes["request"], DiagnosticsRequest::class.java))
        val range = Range(Position(3, 14), Position(3, 15))
        val problem = Diagnostic(Severity.ERROR, "Expected ','", range, source = "JSON", code = "syntax")
        val diagnostics = Diagnostics(
            listOf(
                FileDiagnostics("/a", listOf(problem)),
                FileDiagnostics("/b", incomplete = "the IDE is still indexing"),
            ),
        )
        assertEquals(shapes["answer"], Gson().toJsonTree(diagnostics))
    }

    @Test
    fun `what a neighbouring version adds or lacks does no harm`() {
        val status = gson.fromJson("""{"port": 1, "colour": {}}""", ServerStatus::class.java)
        assertEquals(ServerStatus(port = 1), status)
    }
}
