// Stands in for a server in tests of the platform, and records its calls.

package dev.companion.gemini

import dev.companion.gemini.core.ChangedText
import dev.companion.gemini.core.CommentOnLines
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.core.FileToRevert
import dev.companion.gemini.core.Hunk
import dev.companion.gemini.core.PlannedFile
import dev.companion.gemini.core.ResumedProposal
import dev.companion.gemini.core.RevertAction
import dev.companion.gemini.core.RevertPlan
import dev.companion.gemini.core.ServerStatus
import dev.companion.gemini.core.ShownProposal
import java.awt.EventQueue
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CopyOnWriteArrayList

/** Records calls, in order and from any thread. Its answers can be set. */
open class RecordingCore : CompanionCore {
    /** The calls in a readable form: `caret /a.txt 1:1`. */
    val calls: List<String> get() = told

    @Volatile
    var delivery = Delivery.DELIVERED

    @Volatile
    final override var isClosed = false
        private set

    private val told = CopyOnWriteArrayList<String>()

    override val status get() = ServerStatus(connected = 1)
    override val terminalEnvironment get() = emptyMap<String, String>()

    override fun diagnosis() = "Gemini CLI connects."

    /** Forgets the calls so far. */
    fun forget() = told.clear()

    override fun fileOpened(path: String) = tell("opened $path")

    override fun fileClosed(path: String) = tell("closed $path")

    override fun fileFocused(path: String) = tell("focused $path")

    override fun caretMoved(path: String, line: Int, character: Int) = tell("caret $path $line:$character")

    override fun selectionChanged(path: String, text: String) = tell("selection $path '$text'")

    override fun fileRenamed(from: String, to: String) = tell("renamed $from $to")

    override fun fileDeleted(path: String) = tell("deleted $path")

    override fun rootsChanged(roots: List<String>) = tell("roots ${roots.joinToString(" ")}")

    override fun trustChanged(trusted: Boolean) = tell("trusted $trusted")

    override fun sharingChanged(share: Boolean) = tell("share $share")

    override fun reviewChanged(all: Boolean) = tell("review all $all")

    /** The comments in the order of [commentSet]. */
    val comments = CopyOnWriteArrayList<CommentOnLines>()

    override fun commentSet(comment: CommentOnLines) {
        comments += comment
        tell("comment ${comment.path} ${comment.line}-${comment.endLine} '${comment.content}' '${comment.text}'")
    }

    override fun commentRemoved(id: String) = tell("comment removed $id")

    /** The texts of changed files, by session, prompt and path. */
    val texts = ConcurrentHashMap<Triple<String, Long, String>, ChangedText>()

    override fun textBefore(session: String, prompt: Long, path: String): ChangedText? {
        check(!EventQueue.isDispatchThread())
        return texts[Triple(session, prompt, path)]
    }

    /** The parts of changes, by prompt and path. Each has the file's text after its revert. */
    val hunks = ConcurrentHashMap<Pair<Long, String>, Map<Hunk, String>>()

    override fun hunks(session: String, prompt: Long, path: String): List<Hunk>? {
        check(!EventQueue.isDispatchThread())
        return hunks[Pair(prompt, path)]?.keys?.toList()
    }

    /** The warnings of the plan, by path. */
    val warnings = ConcurrentHashMap<String, String>()

    /** The files of the requests for a plan. */
    val planned = CopyOnWriteArrayList<FileToRevert>()

    /** Plans the text before the oldest prompt; no rule about a question is here. */
    override fun revertPlan(files: List<FileToRevert>): RevertPlan {
        check(!EventQueue.isDispatchThread())
        planned += files
        val plans = files.map { file ->
            val oldest = file.prompts.minBy { it.prompt }
            val kept = texts[Triple(oldest.session, oldest.prompt, file.path)]
            val part = file.hunk?.let { hunks[Pair(oldest.prompt, file.path)].orEmpty()[it] }
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

    override fun changesReverted(session: String, prompt: Long, paths: List<String>, hunk: Hunk?) =
        tell("reverted $session $prompt ${paths.joinToString(" ")}${at(hunk)}")

    override fun revertUndone(session: String, prompt: Long, paths: List<String>, hunk: Hunk?) =
        tell("undone $session $prompt ${paths.joinToString(" ")}${at(hunk)}")

    private fun at(hunk: Hunk?) = if (hunk == null) "" else " at ${hunk.after}"

    override fun changesKept(session: String, prompt: Long, paths: List<String>) =
        tell("kept $session $prompt ${paths.joinToString(" ")}")

    override fun diffAccepted(filePath: String, text: String): Delivery? {
        if (isClosed) return null
        tell("accepted $filePath '$text'")
        return delivery
    }

    /** Whether the CLI has certainly not received a queued acceptance. */
    var isUnsent = true

    override fun withdrawAcceptance(filePath: String): Boolean {
        tell("withdrawn $filePath")
        return isUnsent
    }

    override fun diffRejected(filePath: String, reason: String?): Boolean {
        if (!isClosed) tell(if (reason == null) "rejected $filePath" else "rejected $filePath '$reason'")
        return !isClosed
    }

    /** The proposals of the last server that this one takes up. */
    val resumable = CopyOnWriteArrayList<ResumedProposal>()

    override fun resume(shown: List<ShownProposal>): List<ResumedProposal> {
        check(!EventQueue.isDispatchThread())
        tell("shown ${shown.joinToString(" ") { "${it.diff} '${it.newContent}'" }}")
        return resumable.filter { resumed -> shown.any { it.diff == resumed.diff } }
    }

    override fun restarts() = tell("restarts")

    override fun close() {
        isClosed = true
    }

    private fun tell(call: String) {
        told += call
    }
}
