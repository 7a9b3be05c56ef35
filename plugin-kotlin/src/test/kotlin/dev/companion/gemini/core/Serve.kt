// Runs `gemini-companion serve` in a JVM by JNI, so that the tests of that program also test the boundary.

package dev.companion.gemini.core

import com.google.gson.Gson
import com.google.gson.JsonObject
import com.google.gson.JsonParseException
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

object Serve {
    private val gson = Gson()
    private val lastRequest = AtomicLong()

    /** Those that the editor has not answered. */
    private val requests = ConcurrentHashMap<Long, EditorRequest>()
    private val diagnostics = ConcurrentHashMap<Long, DiagnosticsResponder>()
    private val unsaved = ConcurrentHashMap<Long, UnsavedResponder>()

    /** The editor at the other end of stdin and stdout. */
    private object Editor : EditorHost {
        override fun receive(core: CompanionCore, message: EditorMessage) =
            when (message) {
                is EditorMessage.Open -> ask(requests, message.request, "diff/open", message.diff)
                is EditorMessage.Close -> ask(requests, message.request, "diff/close", closed(message))
                is EditorMessage.Accept -> ask(requests, message.request, "diff/accept", path(message.filePath))
                is EditorMessage.Reject -> ask(requests, message.request, "diff/reject", path(message.filePath))
                is EditorMessage.FindDiagnostics -> ask(diagnostics, message.responder, DIAGNOSTICS, message.asked)
                is EditorMessage.ListUnsaved -> ask(unsaved, message.responder, "editor/unsaved", NOTHING)
                else -> notify(EditorMessage.NOTIFICATIONS.entries.first { it.value == message.javaClass }.key, message)
            }

        private fun closed(message: EditorMessage.Close) =
            path(message.filePath) + if (message.abandoned) mapOf("abandoned" to true) else emptyMap()

        private fun path(filePath: String) = mapOf("filePath" to filePath)

        private fun <T : Any> ask(kept: MutableMap<Long, T>, answer: T, method: String, params: Any) {
            val id = lastRequest.incrementAndGet()
            kept[id] = answer
            send(mapOf("id" to id, "method" to method, "params" to params))
        }
    }

    @JvmStatic
    fun main(arguments: Array<String>) {
        NativeLibrary.load(pluginDirectory)
        val core = NativeCompanionCore.start(
            settings(arguments),
            Editor,
        ) { level, line -> System.err.println("$level $line") }
        val ready = mapOf(
            "port" to core.status.port,
            "url" to "http://127.0.0.1:${core.status.port}/mcp",
            "authToken" to core.terminalEnvironment["GEMINI_CLI_IDE_AUTH_TOKEN"],
            "discoveryFiles" to core.status.discoveryFiles.filter { it.inPlace }.associate { it.client to it.path },
            "env" to core.terminalEnvironment,
        )
        notify("companion/ready", ready)
        generateSequence(::readLine).forEach { take(core, it) }
        core.close()
    }

    private fun settings(arguments: Array<String>): ServerSettings {
        check(arguments.first() == "serve")
        var bodyLimit = 64
        val roots = mutableListOf<String>()
        for ((option, value) in arguments.drop(1).chunked(2)) {
            when (option) {
                "--workspace" -> roots.add(value)
                "--body-limit" -> bodyLimit = value.toInt()
                else -> error("unknown here: $option")
            }
        }
        return ServerSettings(roots, trusted = true, bodyLimit = bodyLimit)
    }

    private fun take(core: CompanionCore, line: String) {
        try {
            val message = gson.fromJson(line, JsonObject::class.java)
            val method = message["method"]?.asString
            val params = message.getAsJsonObject("params")
            when {
                method == null -> answered(message)
                message.has("id") -> send(answer(core, method, params) + ("id" to message["id"]))
                else -> told(core, method, params)
            }
        } catch (e: JsonParseException) {
            send(mapOf("error" to mapOf("code" to PARSE_ERROR, "message" to e.toString())))
        } catch (e: IllegalStateException) {
            send(mapOf("error" to mapOf("code" to PARSE_ERROR, "message" to e.toString())))
        }
    }

    private fun answered(message: JsonObject) {
        val id = message["id"].asLong
        val error = message.getAsJsonObject("error")
        diagnostics.remove(id)?.let { responder ->
            if (error != null) return responder.fail(error["message"].asString)
            responder.complete(gson.fromJson(message["result"], Diagnostics::class.java))
        }
        unsaved.remove(id)?.let { responder ->
            val paths = message.getAsJsonObject("result")?.getAsJsonArray("paths")
            responder.complete(paths?.map { it.asString }.orEmpty())
        }
        val request = requests.remove(id) ?: return
        if (error != null) {
            request.fail(error["message"].asString)
        } else {
            request.complete(message.getAsJsonObject("result")["content"]?.asString)
        }
    }

    private fun answer(core: CompanionCore, method: String, params: JsonObject): Map<String, Any> {
        val text = { name: String -> params[name].asString }
        val result: Any? = when (method) {
            "agent/texts" -> core.textBefore(text("session"), params["prompt"].asLong, text("path"))
            "agent/revertPlan" -> core.revertPlan(filesToRevert(params))
            "companion/status" -> core.status
            "companion/environment" -> mapOf("env" to core.terminalEnvironment)
            "companion/diagnosis" -> mapOf("text" to core.diagnosis())
            "diff/accepted" -> mapOf("delivery" to core.diffAccepted(text("filePath"), text("content")))
            "diff/withdraw" -> mapOf("withdrawn" to core.withdrawAcceptance(text("filePath")))
            else -> error("unknown here: $method")
        }
        val error = mapOf("code" to INVALID_PARAMS, "message" to "there is no answer")
        return if (result == null) mapOf("error" to error) else mapOf("result" to result)
    }

    private fun filesToRevert(params: JsonObject) =
        params.getAsJsonArray("files").map { gson.fromJson(it, FileToRevert::class.java) }

    private fun told(core: CompanionCore, method: String, params: JsonObject) {
        val text = { name: String -> params[name].asString }
        when (method) {
            "editor/opened" -> core.fileOpened(text("path"))
            "editor/closed" -> core.fileClosed(text("path"))
            "editor/focused" -> core.fileFocused(text("path"))
            "editor/cursor" -> core.caretMoved(text("path"), params["line"].asInt, params["character"].asInt)
            "editor/selection" -> core.selectionChanged(text("path"), text("text"))
            "editor/renamed" -> core.fileRenamed(text("from"), text("to"))
            "editor/deleted" -> core.fileDeleted(text("path"))
            "workspace/folders" -> core.rootsChanged(params.getAsJsonArray("paths").map { it.asString })
            "workspace/shareContext" -> core.sharingChanged(params["share"].asBoolean)
            "workspace/review" -> core.reviewChanged(params["all"].asBoolean)
            "workspace/trust" -> core.trustChanged(params["trusted"].asBoolean)
            "comment/set" -> core.commentSet(gson.fromJson(params, CommentOnLines::class.java))
            "comment/removed" -> core.commentRemoved(text("id"))
            "agent/reverted" -> withChanges(params, core::changesReverted)
            "agent/revertUndone" -> withChanges(params, core::revertUndone)
            "agent/kept" -> withChanges(params, core::changesKept)
            "diff/accepted" -> core.diffAccepted(text("filePath"), text("content"))
            "diff/rejected" -> core.diffRejected(text("filePath"), params["reason"]?.asString)
            else -> error("unknown here: $method")
        }
    }

    private fun withChanges(params: JsonObject, call: (String, Long, List<String>) -> Unit) =
        call(params["session"].asString, params["prompt"].asLong, params.getAsJsonArray("paths").map { it.asString })

    private fun notify(method: String, params: Any) = send(mapOf("method" to method, "params" to params))

    @Synchronized
    private fun send(message: Map<String, Any>) = println(gson.toJson(mapOf("jsonrpc" to "2.0") + message))

    private const val DIAGNOSTICS = "editor/diagnostics"
    private val NOTHING = emptyMap<String, Any>()
    private const val PARSE_ERROR = -32700
    private const val INVALID_PARAMS = -32602
}
