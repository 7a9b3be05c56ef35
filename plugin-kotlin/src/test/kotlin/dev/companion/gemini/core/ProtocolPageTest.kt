// Compares the messages of the plugin with the examples of docs/editor-protocol.md, which a test of companion-protocol
// compares with the program: each message has a type, and each field a property.

package dev.companion.gemini.core

import com.google.gson.JsonArray
import com.google.gson.JsonElement
import com.google.gson.JsonObject
import com.google.gson.JsonParser
import com.google.gson.annotations.SerializedName
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.lang.reflect.Field
import java.lang.reflect.Modifier
import java.lang.reflect.ParameterizedType
import java.lang.reflect.Type
import java.nio.file.Files
import java.nio.file.Path

class ProtocolPageTest {
    private val page = String(Files.readAllBytes(Path.of("../docs/editor-protocol.md")))

    /** The parameters of each example of a message to the editor, and from it, by method. */
    private val toEditor = HashMap<String, MutableList<JsonObject>>()
    private val fromEditor = HashMap<String, MutableList<JsonObject>>()

    /** The results of requests from the editor. */
    private val results = HashMap<String, JsonObject>()

    init {
        readTables("From the editor", fromEditor)
        readTables("To the editor", toEditor)
        for (line in Regex("(?m)^([←→]) (.*(?:\n .*)*)").findAll(page)) {
            val (arrow, json) = line.destructured
            val message = parse(json)
            val params = message["params"]?.asJsonObject ?: continue
            val examples = if (arrow == "←") toEditor else fromEditor
            examples.getOrPut(message["method"].asString, ::ArrayList) += params
        }
    }

    private fun readTables(section: String, examples: HashMap<String, MutableList<JsonObject>>) {
        val text = page.substringAfter("\n## $section\n").substringBefore("\n## ")
        for (row in text.lines().filter { it.startsWith("| `") }) {
            val (spans, answers) = row.split(" | ").map { cell ->
                cell.split("`").filterIndexed { index, _ -> index % 2 == 1 }
            }
            val params = spans.find { it.startsWith("{") }?.let(::parse)
            for (method in spans.filter { it.matches(Regex("[a-z]+/[a-zA-Z]+")) }) {
                examples.getOrPut(method, ::ArrayList) += listOfNotNull(params)
                answers.find { it.startsWith("{\"") }?.let { results[method] = parse(it) }
            }
        }
    }

    private fun parse(json: String) = JsonParser().parse(json).asJsonObject

    /** The fields of the JSON of a type. */
    private fun fields(type: Class<*>): Map<String, Field> =
        type.declaredFields
            .filter { !Modifier.isStatic(it.modifiers) && !Modifier.isTransient(it.modifiers) }
            .associateBy { it.getAnnotation(SerializedName::class.java)?.value ?: it.name }

    private fun check(method: String, json: JsonElement, type: Type) {
        if (json is JsonArray && type is ParameterizedType) {
            for (element in json) check(method, element, type.actualTypeArguments.last())
        } else if (json is JsonObject && type is Class<*>) {
            for ((name, value) in json.entrySet().filter { it.key !in UNUSED_FIELDS }) {
                val field = fields(type)[name]
                assertTrue(field != null, "${type.simpleName} of $method has no field $name")
                check(method, value, field!!.genericType)
            }
        }
    }

    @Test
    fun `each message to the editor has a type, and each of its fields a property`() {
        val types = EditorMessage.NOTIFICATIONS + EditorMessage.REQUESTS
        assertEquals(toEditor.keys, types.keys + UNUSED)
        for ((method, type) in types) for (example in toEditor.getValue(method)) check(method, example, type)
    }

    @Test
    fun `each message from the editor has the fields of its examples`() {
        val messages = exampleMessages()
        assertEquals(fromEditor.keys, messages.mapTo(HashSet()) { it.method })
        for ((type, same) in messages.groupBy { it.params.javaClass }) {
            val shown = HashSet<String>()
            for (message in same) {
                for (example in fromEditor.getValue(message.method)) {
                    check(message.method, example, type)
                    shown += example.entrySet().map { it.key }
                }
                if (message is ServerMessage.Request<*>) {
                    check(message.method, results.getValue(message.method), message.answer)
                }
            }
            assertEquals(shown, fields(type).keys, type.simpleName)
        }
    }

    private companion object {
        /** The plugin needs no port of the server, and asks for the reasons of private files by `companion/status`. */
        val UNUSED = setOf("companion/ready", "companion/private")

        /** The plugin neither shows nor decides by these. */
        val UNUSED_FIELDS = setOf("count", "mixed", "differs", "tasks")
    }
}
