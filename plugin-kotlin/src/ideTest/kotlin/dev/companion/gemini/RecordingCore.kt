// Stands in for a server in tests of the platform, and records its messages.

package dev.companion.gemini

import com.google.gson.Gson
import com.google.gson.JsonArray
import com.google.gson.JsonElement
import com.google.gson.JsonObject
import dev.companion.gemini.core.AcceptanceDelivery
import dev.companion.gemini.core.ChangedText
import dev.companion.gemini.core.CommentOnLines
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.ConnectedCli
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.core.Diagnosis
import dev.companion.gemini.core.FileToRevert
import dev.companion.gemini.core.Hunk
import dev.companion.gemini.core.Hunks
import dev.companion.gemini.core.PlannedFile
import dev.companion.gemini.core.ResumedProposal
import dev.companion.gemini.core.ResumedProposals
import dev.companion.gemini.core.RevertAction
import dev.companion.gemini.core.RevertPlan
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.core.ServerStatus
import dev.companion.gemini.core.ShownProposal
import dev.companion.gemini.core.TerminalEnvironment
import dev.companion.gemini.core.Withdrawn
import java.awt.EventQueue
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CopyOnWriteArrayList

/** Records messages, in order and from any thread. Its answers can be set. */
open class RecordingCore : CompanionCore {
    private val sent = CopyOnWriteArrayList<ServerMessage>()

    /** The messages since [forget], except questions, in a readable form: `cursor /a.txt 1 1`. */
    val calls: List<String> get() = sent.map(::readable)

    /** All comments, in order. */
    val comments = CopyOnWriteArrayList<CommentOnLines>()

    @Volatile
    var delivery = Delivery.DELIVERED

    /** Whether the CLI has certainly not received a queued acceptance. */
    var isUnsent = true

    /** The proposals of the last server that this one takes up. */
    val resumable = CopyOnWriteArrayList<ResumedProposal>()

    /** The texts of changed files, by session, prompt and path. */
    val texts = ConcurrentHashMap<Triple<String, Long, String>, ChangedText>()

    /** The parts of changes, by prompt and path. Each has the file's text after its revert. */
    val hunks = ConcurrentHashMap<Pair<Long, String>, Map<Hunk, String>>()

    /** The warnings of the plan, by path. */
    val warnings = ConcurrentHashMap<String, String>()

    /** The files of the requests for a plan. */
    val planned = CopyOnWriteArrayList<FileToRevert>()

    @Volatile
    final override var isClosed = false
        private set

    /** A server can send a proposal before its start has ended. */
    @Volatile
    var isStarted = true

    /** Forgets the messages so far. */
    fun forget() = sent.clear()

    override fun send(notification: ServerMessage.Notification): Boolean {
        check(!notification.mayWait || !EventQueue.isDispatchThread())
        if (isClosed || !isStarted) return false
        if (notification is ServerMessage.CommentSet) comments += notification.params
        sent += notification
        return true
    }

    override fun <A> request(request: ServerMessage.Request<A>): A? {
        check(!request.mayWait || !EventQueue.isDispatchThread())
        return if (isClosed || !isStarted) null else request.answer.cast(answer(request))
    }

    private fun answer(request: ServerMessage.Request<*>): Any? =
        when (request) {
            is ServerMessage.Accepted -> AcceptanceDelivery(delivery).also { sent += request }
            is ServerMessage.Withdraw -> Withdrawn(isUnsent).also { sent += request }
            is ServerMessage.Resume -> resumed(request.proposals).also { sent += request }
            is ServerMessage.FindTexts -> texts[request.params.run { Triple(session, prompt, path) }]
            is ServerMessage.ListHunks -> parts(request.params.prompt, request.params.path)
            is ServerMessage.PlanRevert -> plan(request.files)
            ServerMessage.Status -> ServerStatus(clis = listOf(ConnectedCli()))
            ServerMessage.Environment -> TerminalEnvironment(emptyMap())
            ServerMessage.Diagnose -> Diagnosis("Gemini CLI connects.")
        }

    private fun resumed(shown: List<ShownProposal>) =
        ResumedProposals(resumable.filter { resumed -> shown.any { it.diff == resumed.diff } })

    private fun parts(prompt: Long, path: String) = hunks[Pair(prompt, path)]?.let { Hunks(it.keys.toList()) }

    /** Plans the text before the oldest prompt; no rule about a question is here. */
    private fun plan(files: List<FileToRevert>): RevertPlan {
        planned += files
        val plans = files.map { file ->
            val oldest = file.prompts.minBy { it.number }
            val kept = texts[Triple(oldest.session, oldest.number, file.path)]
            val part = file.hunk?.let { hunks[Pair(oldest.number, file.path)].orEmpty()[it] }
            if (part != null) return@map PlannedFile(file.path, RevertAction.WRITE, part, null, warnings[file.path])
            val action = when {
                kept == null -> RevertAction.REFUSE
                file.disk == kept.before && (file.unsaved ?: kept.before) == kept.before -> RevertAction.NOTHING
                kept.before == null -> RevertAction.DELETE
                else -> RevertAction.WRITE
            }
            val warning = warnings[file.path].takeIf { action != RevertAction.NOTHING }
            PlannedFile(file.path, action, kept?.before, "the text is gone".takeIf { kept == null }, warning)
        }
        val warned = plans.mapNotNull { it.warning }
        return RevertPlan(plans, warned.joinToString("\n").takeIf { warned.isNotEmpty() })
    }

    private fun readable(message: ServerMessage): String {
        val words = listOf(message.method.substringAfter('/')) + words(Gson().toJsonTree(message.params))
        // The long text stands in the JSON as an empty one.
        return words.joinToString(" ") { it.ifEmpty { "'${message.longText.orEmpty()}'" } }
    }

    private fun words(json: JsonElement): List<String> =
        when (json) {
            is JsonArray -> json.flatMap(::words)
            is JsonObject if json.has("after") -> listOf("at ${json["after"]}")
            is JsonObject -> json.entrySet().flatMap { words(it.value) }
            else -> listOf(json.asString)
        }

    override fun close() {
        isClosed = true
    }
}
