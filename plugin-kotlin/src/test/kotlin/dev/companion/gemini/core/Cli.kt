// Provides a simple client: one session, its stream, and calls of tools.

package dev.companion.gemini.core

import com.google.gson.Gson
import com.google.gson.JsonObject
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers
import java.util.concurrent.CompletableFuture
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit

/** The token that a CLI in a terminal of the editor has. */
internal val CompanionCore.token: String
    get() = checkNotNull(request(ServerMessage.Environment)).env.getValue("GEMINI_CLI_IDE_AUTH_TOKEN")

class Cli(
    port: Int,
    private val token: String,
) {
    /** The server's notifications: `method` and `params`. */
    val notifications = LinkedBlockingQueue<JsonObject>()

    private val uri = URI("http://127.0.0.1:$port/mcp")
    private val session = initialize()

    constructor(core: CompanionCore) : this(core.status.port, core.token)

    init {
        val get = request(session).header("Accept", "text/event-stream").GET().build()
        val stream = HTTP.send(get, BodyHandlers.ofLines()).body()
        val reader = Thread {
            // The end of the stream means that the server ended, which tests check by other means.
            runCatching {
                stream.filter { it.startsWith("data: ") }.forEach { notifications.put(json(it.removePrefix("data: "))) }
            }
        }
        reader.isDaemon = true
        reader.start()
        // A CLI that has received the context is connected.
        nextNotification("ide/contextUpdate")
    }

    private fun initialize(): String {
        val answer = HTTP.send(post("""{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}""", null), TEXT)
        return answer.headers().firstValue("mcp-session-id").get()
    }

    /** Returns the next notification of that method. Drops others before it. */
    fun nextNotification(method: String): JsonObject =
        notifications.until(method) { it["method"].asString == method }.getAsJsonObject("params")

    /** Returns the next context with an active file. */
    fun nextActiveFile(): JsonObject =
        generateSequence { nextNotification("ide/contextUpdate") }
            .map { it.getAsJsonObject("workspaceState").getAsJsonArray("openFiles") }
            .first { it.size() > 0 }[0]
            .asJsonObject

    /** Returns the result, or the whole answer if it is an error. */
    fun call(tool: String, vararg arguments: Pair<String, String>): CompletableFuture<JsonObject> {
        val given = JsonObject()
        for ((name, value) in arguments) given.addProperty(name, value)
        val params = JsonObject()
        params.addProperty("name", tool)
        params.add("arguments", given)
        return HTTP
            .sendAsync(post(request("tools/call", params), session), TEXT)
            .thenApply { json(it.body()) }
            .thenApply { it.getAsJsonObject("result") ?: it }
            .orTimeout(WAIT_SECONDS, TimeUnit.SECONDS)
    }

    fun openDiff(path: String, text: String) = call("openDiff", "filePath" to path, "newContent" to text)

    private fun post(body: String, session: String?) =
        request(session)
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build()

    private fun request(session: String?): HttpRequest.Builder {
        val request = HttpRequest.newBuilder(uri).header("Authorization", "Bearer $token")
        return if (session == null) request else request.header("mcp-session-id", session)
    }

    companion object {
        private val HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()
        private val TEXT = BodyHandlers.ofString()

        private fun request(method: String, params: Any) =
            """{"jsonrpc":"2.0","id":1,"method":"$method","params":$params}"""

        private fun json(text: String) = Gson().fromJson(text, JsonObject::class.java)
    }
}
