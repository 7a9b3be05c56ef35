// Runs `gemini-companion serve` in a JVM by JNI, so that the tests of that program also test the boundary.

package dev.companion.gemini.core

import com.google.gson.Gson
import com.google.gson.JsonElement
import com.google.gson.JsonObject
import com.google.gson.JsonParseException
import java.util.concurrent.ConcurrentHashMap

/** Passes each message on, so it knows none: both sides speak the editor's protocol. */
object Serve {
    private val gson = Gson()

    /** The messages whose text crosses the boundary beside the JSON, with its field. */
    private val texts = mapOf(ACCEPTED to "content", "editor/selection" to "text")

    /** The requests that the editor has not answered: their methods, by number. */
    private val requests = ConcurrentHashMap<Long, String>()

    /** The editor at the other end of stdin and stdout. */
    private object Editor : NativeCallbacks {
        override fun request(request: Long, method: String, params: String, newContent: ByteArray?) {
            val fields = json(params)
            newContent?.let { fields.addProperty("newContent", it.decodeToString()) }
            requests[request] = method
            send(mapOf("id" to request, "method" to method, "params" to fields))
        }

        override fun notify(method: String, params: String) = send(mapOf("method" to method, "params" to json(params)))

        override fun log(level: Int, message: String) = System.err.println("$level $message")
    }

    @JvmStatic
    fun main(arguments: Array<String>) {
        NativeLibrary.load(pluginDirectory)
        val core = NativeCore.start(gson.toJson(settings(arguments)), Editor)
        send(mapOf("method" to "companion/ready", "params" to ready(core)))
        generateSequence(::readLine).forEach { receive(core, it) }
        NativeCore.stop(core)
    }

    private fun settings(arguments: Array<String>): ServerSettings {
        check(arguments.first() == "serve")
        var settings = ServerSettings(trusted = true)
        val rest = arguments.drop(1).iterator()
        for (option in rest) {
            settings = when (option) {
                "--workspace" -> settings.copy(workspace = settings.workspace + rest.next())
                "--body-limit" -> settings.copy(bodyLimit = rest.next().toInt())
                "--resume" -> settings.copy(resume = true)
                "--keep-proposals" -> settings.copy(keepProposals = true)
                else -> error("unknown here: $option")
            }
        }
        return settings
    }

    private fun ready(core: Long): JsonObject {
        val ready = json(call(core, "companion/status"))
        val files = ready.getAsJsonArray("discoveryFiles").map { gson.fromJson(it, DiscoveryFile::class.java) }
        val env = json(call(core, "companion/environment"))["env"]
        ready.addProperty("url", "http://127.0.0.1:${ready["port"]}/mcp")
        ready.add("authToken", env.asJsonObject["GEMINI_CLI_IDE_AUTH_TOKEN"])
        ready.add("discoveryFiles", gson.toJsonTree(files.filter { it.inPlace }.associate { it.client to it.path }))
        ready.add("env", env)
        return ready
    }

    private fun receive(core: Long, line: String) {
        try {
            val message = json(line)
            val method = message["method"]?.asString
            when {
                method == null -> answered(message["id"].asLong, message)

                message.has("id") -> answer(message["id"], request(core, method, message))

                // The plugin accepts by a request.
                method == ACCEPTED -> request(core, method, message)

                else -> cross(message) { params, text -> NativeCore.notify(core, method, params, text) }
            }
        } catch (e: JsonParseException) {
            send(mapOf("error" to mapOf("code" to PARSE_ERROR, "message" to e.toString())))
        } catch (e: IllegalStateException) {
            send(mapOf("error" to mapOf("code" to INVALID_PARAMS, "message" to e.toString())))
        }
    }

    private fun request(core: Long, method: String, message: JsonObject) =
        cross(message) { params, text -> NativeCore.request(core, method, params, text) }

    /** Passes the parameters of a message to [native], and its text beside them, as the plugin does. */
    private fun <T> cross(message: JsonObject, native: (String, ByteArray?) -> T): T {
        val params = message.getAsJsonObject("params")
        val field = texts[message["method"].asString]
        val text = field?.let { params[it].asString.toByteArray() }
        field?.let { params.addProperty(it, "") }
        return native(params.toString(), text)
    }

    private fun answer(id: JsonElement, result: ByteArray?) {
        val error = mapOf("code" to INVALID_PARAMS, "message" to "there is no answer")
        send(mapOf("id" to id, if (result == null) "error" to error else "result" to json(result.decodeToString())))
    }

    private fun answered(request: Long, message: JsonObject) {
        val method = requests.remove(request) ?: return
        val error = message.getAsJsonObject("error")
        val result = message.getAsJsonObject("result")
        if (error != null) return NativeCore.failRequest(request, error["message"].asString)
        // The text of a proposal crosses as it is.
        val content = if (method.startsWith("diff/")) result["content"]?.asString else result.toString()
        NativeCore.completeRequest(request, content?.toByteArray())
    }

    private fun call(core: Long, method: String) = NativeCore.request(core, method, "{}", null)!!.decodeToString()

    private fun json(text: String) = gson.fromJson(text, JsonObject::class.java)

    @Synchronized
    private fun send(message: Map<String, Any>) = println(gson.toJson(mapOf("jsonrpc" to "2.0") + message))

    private const val ACCEPTED = "diff/accepted"
    private const val PARSE_ERROR = -32700
    private const val INVALID_PARAMS = -32602
}
