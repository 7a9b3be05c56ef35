// Keeps the list of files that CLIs changed, and shows their new texts in the IDE.

package dev.companion.gemini.changes

import com.intellij.openapi.Disposable
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.util.messages.Topic
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.ChangedPath
import dev.companion.gemini.core.ChangedPaths
import dev.companion.gemini.core.ChangedText
import dev.companion.gemini.core.CliChange
import dev.companion.gemini.core.CliCommand
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.Hunk
import dev.companion.gemini.core.PlannedFile
import dev.companion.gemini.core.PromptKey
import dev.companion.gemini.core.RevertPlan
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.later
import dev.companion.gemini.target.LocalHistoryLabel
import java.util.concurrent.ConcurrentHashMap

/** For the EDT, except [changed], [command], [texts], [hunks] and [revertPlan]. */
class ChangesService(private val project: Project) : Disposable {
    private val list = ChangeList()

    /** The server of each prompt in the list, which keeps its texts. Changed on the EDT. */
    private val cores = ConcurrentHashMap<PromptKey, CompanionCore>()

    /** The newest states that the list has not taken over, and their servers. */
    private val incoming = LinkedHashMap<PromptKey, Pair<CompanionCore, CliChange>>()

    /** The server and the number of each session's last prompt that the Local History has a label for. */
    private val labelled = HashMap<String, Pair<CompanionCore, Long>>()
    private val files = HashMap<String, FilesOnDisk.Found>()
    private val onDisk = FilesOnDisk(project) { found -> project.later { files += found } }
    private val commands =
        CommandWatch(project) { core, command, files -> project.later { commandEnded(core, command, files) } }

    /** Any thread. */
    internal val prompts: List<PromptChanges> get() = list.prompts

    val fileCount: Int get() = list.fileCount

    /** Any thread. */
    fun changed(core: CompanionCore, change: CliChange) {
        val key = change.key
        val isFirst = synchronized(incoming) {
            // A later state also takes the later place.
            val isFirst = incoming.isEmpty()
            incoming.remove(key)
            incoming[key] = Pair(core, change)
            isFirst
        }
        if (isFirst) project.later(::takeOver)
    }

    /** Any thread. */
    fun command(core: CompanionCore, command: CliCommand) {
        val key = command.key
        val now = System.currentTimeMillis()
        project.later {
            if (command.running) label(core, key)
            if (command.running) commands.started(core, command, now) else commands.ended(key)
        }
    }

    /** Forgets the prompts of servers that have ended: their texts are gone. */
    fun forgetClosed() {
        assertEdt()
        commands.forgetClosed()
        labelled.values.removeIf { (core, _) -> core.isClosed }
        val ended = cores.filterValues { it.isClosed }.keys
        if (ended.isEmpty()) return
        list.removeIf { it in ended }
        publish()
    }

    /**
     * Returns the text before the first of [rows], and as the CLI left it in the last; null if the server does not keep
     * them. The rows are those of one file, from the oldest to the newest. Not for the EDT.
     */
    internal fun texts(rows: List<ChangeRow>): ChangedText? {
        assertNotEdt()
        val texts = listOf(rows.first(), rows.last()).map { row ->
            cores[row.prompt]?.request(ServerMessage.FindTexts(pathOf(row))) ?: return null
        }
        return ChangedText(texts.first().before, texts.last().after)
    }

    /** Returns the parts of a file's change; null if the server does not keep its texts. Not for the EDT. */
    internal fun hunks(row: ChangeRow): List<Hunk>? {
        assertNotEdt()
        return cores[row.prompt]?.request(ServerMessage.ListHunks(pathOf(row)))?.hunks
    }

    private fun pathOf(row: ChangeRow) = ChangedPath(row.prompt.session, row.prompt.number, row.path)

    /** Not for the EDT. Refuses all files if the server has ended. [hunk] is the only part to revert; null if all. */
    internal fun revertPlan(files: List<FileVersions>, hunk: Hunk?): RevertPlan {
        assertNotEdt()
        val core = files.firstNotNullOfOrNull { cores[it.rows.first().prompt] }
        val toRevert = files.map { it.toRevert(hunk) }
        return core?.request(ServerMessage.PlanRevert(toRevert)) ?: RevertPlan(toRevert.map { PlannedFile(it.path) })
    }

    /** The file of a row, as far as the IDE knows it. */
    internal fun file(row: ChangeRow): VirtualFile? = files[row.path]?.file?.takeIf { it.isValid }

    /** The folder of a row's file, as far as the IDE knows it. */
    internal fun folder(row: ChangeRow): VirtualFile? = files[row.path]?.folder?.takeIf { it.isValid }

    /** Keeps [rows], which are all rows of [whole] prompts. */
    internal fun keep(rows: Collection<ChangeRow>, whole: Collection<PromptKey>) {
        assertEdt()
        for ((key, those) in rows.groupBy { it.prompt }) {
            val paths = those.filter { it.edit != null }.map { it.path }
            val changes = ChangedPaths(key.session, key.number, paths)
            if (paths.isNotEmpty()) cores[key]?.send(ServerMessage.ChangesKept(changes))
        }
        list.keep(rows, whole)
        publish()
    }

    /** Keeps one part of a file's change. The server then reports the rest of the prompt's changes. */
    internal fun keep(row: ChangeRow, hunk: Hunk) {
        assertEdt()
        val changes = ChangedPaths(row.prompt.session, row.prompt.number, listOf(row.path), hunk)
        cores[row.prompt]?.send(ServerMessage.ChangesKept(changes))
    }

    /** The servers of the prompts of [rows]. */
    internal fun servers(rows: Collection<ChangeRow>): Map<PromptKey, CompanionCore> {
        assertEdt()
        val servers = HashMap<PromptKey, CompanionCore>()
        for (row in rows) cores[row.prompt]?.let { servers[row.prompt] = it }
        return servers
    }

    /** Reports to [servers], also if a prompt has left the list since. */
    internal fun reverted(rows: Collection<ChangeRow>, hunk: Hunk?, servers: Map<PromptKey, CompanionCore>) =
        report(rows, hunk, servers, ServerMessage::ChangesReverted)

    /** See [reverted]. */
    internal fun revertUndone(rows: Collection<ChangeRow>, hunk: Hunk?, servers: Map<PromptKey, CompanionCore>) =
        report(rows, hunk, servers, ServerMessage::RevertUndone)

    private fun report(
        rows: Collection<ChangeRow>,
        hunk: Hunk?,
        servers: Map<PromptKey, CompanionCore>,
        message: (ChangedPaths) -> ServerMessage.Notification,
    ) {
        assertEdt()
        for ((key, those) in rows.groupBy { it.prompt }) {
            servers[key]?.send(message(ChangedPaths(key.session, key.number, those.map { it.path }, hunk)))
        }
        onDisk.look(rows.map { it.path })
    }

    private fun takeOver() {
        val all = synchronized(incoming) { incoming.values.toList().also { incoming.clear() } }
        val changes = all.filter { (core, _) -> !core.isClosed }
        for ((core, change) in changes) {
            cores[change.key] = core
            if (change.hasLeft) commands.forget(change.key)
            // The IDE has not read the new texts yet, so the label is before the changes.
            if (list.update(change)) label(core, change.key)
        }
        onDisk.look(changes.flatMap { (_, change) -> change.files.map { it.path } })
        publish()
    }

    private fun commandEnded(core: CompanionCore, command: CliCommand, files: List<OtherFile>) {
        if (core.isClosed) return
        cores[command.key] = core
        list.add(command, files)
        onDisk.look(files.map { it.path })
        publish()
    }

    private fun label(core: CompanionCore, key: PromptKey) {
        val last = labelled[key.session]
        if (last?.first === core && key.number <= last.second) return
        labelled[key.session] = Pair(core, key.number)
        LocalHistoryLabel.put(project, message("changes.history"))
    }

    private fun publish() {
        val prompts = list.prompts
        cores.keys.retainAll(prompts.mapTo(HashSet()) { it.key })
        val paths = HashSet<String>()
        for (prompt in prompts) for (row in prompt.rows) paths += row.path
        files.keys.retainAll(paths)
        project.messageBus.syncPublisher(ChangesListener.TOPIC).changesChanged(fileCount)
        ChangesToolWindow.update(project, prompts.isNotEmpty())
    }

    override fun dispose() = commands.dispose()

    companion object {
        fun getInstance(project: Project): ChangesService = Platform.service(project, ChangesService::class.java)
    }
}

/** Reports changes of the list within the plugin. */
fun interface ChangesListener {
    /** The number of files that CLIs changed. EDT. */
    fun changesChanged(files: Int)

    companion object {
        /** On the project's message bus. */
        val TOPIC: Topic<ChangesListener> = Topic.create("Files that CLIs changed", ChangesListener::class.java)
    }
}
