// Tests that the server knows each message of the plugin, and that a stopped server ignores it.

package dev.companion.gemini.core

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.lang.reflect.Modifier
import java.nio.file.Path

/** An example of each message to the server. */
internal fun exampleMessages(): List<ServerMessage> =
    ServerMessage::class.java.declaredClasses
        .filter { !Modifier.isAbstract(it.modifiers) }
        .map { example(it) as ServerMessage }

private fun example(type: Class<*>): Any {
    val constructor = type.declaredConstructors.filter { !it.isSynthetic }.maxBy { it.parameterCount }
    constructor.isAccessible = true
    return constructor.newInstance(*constructor.parameterTypes.map(::argument).toTypedArray())
}

private fun argument(type: Class<*>): Any =
    when (type) {
        Int::class.javaPrimitiveType -> 1
        Long::class.javaPrimitiveType -> 1L
        Boolean::class.javaPrimitiveType -> true
        List::class.java -> emptyList<Any>()
        String::class.java -> Path.of("").toAbsolutePath().toString()
        else -> example(type)
    }

class MessagesTest {
    @TempDir
    lateinit var root: Path

    private val messages = exampleMessages()
    private val notifications get() = messages.filterIsInstance<ServerMessage.Notification>()
    private val requests get() = messages.filterIsInstance<ServerMessage.Request<*>>()

    @Test
    fun `the server knows each message`() {
        Window(root).use { window ->
            // The server throws an exception if it refuses a message.
            for (message in notifications) assertTrue(window.core.send(message), message.method)
            for (message in requests) window.core.request(message)
        }
    }

    @Test
    fun `a stopped server ignores messages and knows nothing`() {
        val core = Window(root).also { it.close() }.core
        for (message in notifications) assertFalse(core.send(message), message.method)
        for (message in requests) assertNull(core.request(message), message.method)
        assertEquals(ServerStatus(), core.status)
    }
}
