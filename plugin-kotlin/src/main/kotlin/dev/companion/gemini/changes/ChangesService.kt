// Keeps the list of files that CLIs changed, and shows their new texts in the IDE.

package dev.companion.gemini.changes

import com.intellij.openapi.Disposable
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.util.concurrency.AppExecutorUtil
import com.intellij.util.messages.Topic
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.ChangeKind
import dev.companion.gemini.core.ChangedPaths
import dev.companion.gemini.core.CliChange
import dev.companion.gemini.core.CliCommand
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.Hunk
import dev.companion.gemini.core.PromptKey
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.disk.OpenedPath
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.labelHistory
import dev.companion.gemini.platform.later
import java.util.concurrent.ConcurrentHashMap

/** For the EDT, except [changed], [command] and [prompts]. */
class ChangesService(private val project: Project) : Disposable {
    private val list = ChangeList()

    /** The server and the number of each session's last prompt that the Local History has a label for. */
    private val labelled = HashMap<String, Pair<CompanionCore, Long>>()

    /** The changed files by their paths; of a file that does not exist, the nearest folder. */
    private val places = HashMap<String, VirtualFile>()

    /** The newest state of each prompt whose files were not looked at yet. */
    private val unseen = ConcurrentHashMap<PromptKey, CliChange>()
    private val looks = AppExecutorUtil.createBoundedApplicationPoolExecutor("Changed files of CLIs", 1)
    private val commands =
        CommandWatch(project, this) { core, command, files -> project.later { commandEnded(core, command, files) } }

    /** Any thread. */
    internal val prompts: List<PromptChanges> get() = list.prompts

    val fileCount: Int get() = list.fileCount

    /** Any thread. */
    fun changed(core: CompanionCore, change: CliChange) = project.later { takeOver(core, change) }

    /** Any thread. */
    fun command(core: CompanionCore, command: CliCommand) {
        val now = System.currentTimeMillis()
        project.later {
            if (command.running) label(core, command.key)
            when {
                command.running -> commands.started(core, command, now)
                command.lost -> commands.lost(command.key)
                else -> commands.ended(command.key)
            }
        }
    }

    /** Forgets the prompts of servers that have ended: their texts are gone. */
    fun forgetClosed() {
        assertEdt()
        commands.forgetClosed()
        labelled.values.removeIf { (core, _) -> core.isClosed }
        if (prompts.none { it.core.isClosed }) return
        list.removeIf { it.core.isClosed }
        publish()
    }

    /** The file of a row, as far as the IDE knows it. */
    internal fun file(row: ChangeRow): VirtualFile? = place(row)?.takeIf { !it.isDirectory }

    /** The file of a row. If it does not exist, the nearest folder. */
    internal fun place(row: ChangeRow): VirtualFile? = places[row.path]?.takeIf { it.isValid }

    /** Keeps [rows], which are all rows of [whole] prompts. */
    internal fun keep(rows: Collection<ChangeRow>, whole: Collection<PromptKey>) {
        assertEdt()
        report(rows.filter { it.edit != null }, null, ServerMessage::ChangesKept)
        list.keep(rows, whole)
        publish()
    }

    private fun takeOver(core: CompanionCore, change: CliChange) {
        if (core.isClosed) return
        if (change.hasLeft) commands.forget(change.key)
        // The IDE has not read the new texts yet, so the label is before the changes.
        if (list.update(core, change)) label(core, change.key)
        unseen[change.key] = change
        looks.execute { if (unseen.remove(change.key, change)) look(change.files.map { it.path }) }
        publish()
    }

    private fun commandEnded(core: CompanionCore, command: CliCommand, files: Map<String, ChangeKind>) {
        if (core.isClosed) return
        list.add(core, command, files)
        looks.execute { look(files.keys) }
        publish()
    }

    /** Makes the IDE load files that a CLI wrote. A file with unsaved text keeps it: see [FileOnDisk.find]. */
    private fun look(paths: Collection<String>) {
        val found = HashMap<String, VirtualFile>()
        for (path in paths) find(path)?.let { found[path] = it }
        project.later { places += found }
    }

    private fun find(path: String): VirtualFile? {
        val opened = OpenedPath.find(project, path) ?: return null
        val folders = generateSequence(opened.parent) { it.parent }
        return FileOnDisk.find(opened) ?: folders.firstNotNullOfOrNull(FileOnDisk::known)
    }

    private fun label(core: CompanionCore, key: PromptKey) {
        val last = labelled[key.session]
        if (last?.first === core && key.number <= last.second) return
        labelled[key.session] = Pair(core, key.number)
        project.labelHistory(message("changes.history"))
    }

    private fun publish() {
        places.keys.retainAll(prompts.flatMapTo(HashSet()) { prompt -> prompt.rows.map { it.path } })
        project.messageBus.syncPublisher(ChangesListener.TOPIC).changesChanged()
        ChangesToolWindow.update(project, prompts.isNotEmpty())
    }

    override fun dispose() = Unit

    companion object {
        fun getInstance(project: Project): ChangesService = Platform.service(project, ChangesService::class.java)

        /**
         * Reports a decision of the user to the servers of [rows], also if a prompt has left the list since. [hunk] is
         * the only part of one file that the decision is about; null if all. EDT.
         */
        internal fun report(
            rows: Collection<ChangeRow>,
            hunk: Hunk?,
            message: (ChangedPaths) -> ServerMessage.Notification,
        ) {
            assertEdt()
            for ((prompt, those) in rows.groupBy { Pair(it.core, it.prompt) }) {
                val (core, key) = prompt
                core.send(message(ChangedPaths(key.session, key.number, those.map { it.path }, hunk)))
            }
        }
    }
}

/** Reports changes of the list within the plugin. */
fun interface ChangesListener {
    /** EDT. */
    fun changesChanged()

    companion object {
        /** On the project's message bus. */
        val TOPIC: Topic<ChangesListener> = Topic.create("Files that CLIs changed", ChangesListener::class.java)
    }
}
