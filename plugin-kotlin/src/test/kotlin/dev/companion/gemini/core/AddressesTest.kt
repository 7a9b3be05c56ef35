// Tests the addresses and names of a server.

package dev.companion.gemini.core

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.condition.EnabledOnOs
import org.junit.jupiter.api.condition.OS
import org.junit.jupiter.api.io.TempDir
import java.net.Socket
import java.nio.file.Path
import java.util.logging.Level

class AddressesTest {
    @TempDir
    lateinit var root: Path

    /**
     * Returns the status of a request without a token. A host that is not allowed is refused before the token is
     * checked.
     */
    private fun status(address: String, port: Int, host: String): Int =
        Socket(address, port).use { socket ->
            socket.getOutputStream().write("GET /mcp HTTP/1.1\r\nhost: $host\r\n\r\n".toByteArray())
            val line = socket.getInputStream().bufferedReader().readLine()
            line.split(' ')[1].toInt()
        }

    @Test
    fun `by itself it listens on loopback only`() {
        Window(root).use { window ->
            assertEquals(listOf("127.0.0.1:${window.core.status.port}"), window.core.status.listening)
            assertEquals(emptyList<String>(), window.core.status.notListening)
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX, disabledReason = "loopback has but one address elsewhere")
    fun `further addresses and names are let in, and those that are not there are told`() {
        val addresses = listOf("127.0.0.2", "192.0.2.1")
        val configure = { it: ServerSettings -> it.copy(allowedHosts = listOf("Build-Box"), listen = addresses) }
        Window(root, configure = configure).use { window ->
            val port = window.core.status.port
            assertEquals(listOf("127.0.0.1:$port", "127.0.0.2:$port"), window.core.status.listening)
            val problem = window.core.status.notListening.single()
            assertTrue(problem.startsWith("can't listen on 192.0.2.1: "), problem)
            assertEquals(problem, window.log.until("a warning") { (level, _) -> level == Level.WARNING }.second)
            val hosts = listOf("127.0.0.2:$port", "build-box:$port", "build-box", "127.0.0.3:$port")
            assertEquals(listOf(401, 401, 401, 403), hosts.map { status("127.0.0.2", port, it) })
        }
    }

    @Test
    fun `what is wrong with a host or an address is told before a server is started`() {
        NativeLibrary.load(pluginDirectory)
        val hosts = { host: String -> NativeCompanionCore.problem(ServerSettings(allowedHosts = listOf("a", host))) }
        assertEquals(null, hosts("build-box:9000"))
        assertEquals("\"*.example\" is not a host: each name must be given in full", hosts("*.example"))
        val listen = { address: String -> NativeCompanionCore.problem(ServerSettings(listen = listOf(address))) }
        assertEquals(null, listen("fd00::1"))
        assertEquals("\"224.0.0.1\" is a multicast address, not a machine's", listen("224.0.0.1"))
        assertTrue("give one address" in listen("::").orEmpty())
    }
}
