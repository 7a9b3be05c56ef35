// Lists the files that CLIs changed, by prompt. Without the platform.

package dev.companion.gemini.changes

import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.ChangeKind
import dev.companion.gemini.core.ChangedFile
import dev.companion.gemini.core.ChangedPath
import dev.companion.gemini.core.ChangedText
import dev.companion.gemini.core.CliChange
import dev.companion.gemini.core.CliCommand
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.Hunk
import dev.companion.gemini.core.PromptKey
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.target.ShownPath

internal val CliChange.key get() = PromptKey(session, prompt)

internal val CliCommand.key get() = PromptKey(session, prompt)

/** A file of one prompt, as a row of the list. */
internal data class ChangeRow(
    /** The server that keeps the texts of the prompt. */
    val core: CompanionCore,
    val prompt: PromptKey,
    val path: String,
    val kind: ChangeKind,
    /** Null for a file of a shell command, which the server does not know. */
    val edit: ChangedFile?,
) {
    /** Whether the plugin can revert the change. */
    val isRevertible: Boolean get() = edit != null && edit.revertible && !edit.reverted

    /** Whether the texts before and after can be compared. */
    val isComparable: Boolean get() = edit != null && edit.revertible

    /** Says what the colour of the file's name shows; null for a changed file. */
    val kindText: String?
        get() = when (kind) {
            ChangeKind.CHANGED -> null
            ChangeKind.CREATED -> message("changes.created")
            ChangeKind.DELETED -> message("changes.deleted")
        }

    /** The numbers of lines, such as *+2 −1*; null if they are unknown. */
    val countsText: String?
        get() {
            val (added, removed) = Pair(edit?.added ?: return null, edit.removed ?: return null)
            return message("diff.lines", added, removed)
        }

    /** Why the file has no revert; null if it has one. */
    val remark: String?
        get() = when {
            edit == null -> message("changes.remark.command")
            edit.reverted -> message("changes.remark.reverted")
            edit.isPrivate -> message("changes.remark.private")
            !edit.revertible -> message("changes.remark.unkept")
            else -> null
        }

    /** Returns the texts before and after the prompt; null if the server does not keep them. Not for the EDT. */
    fun texts(): ChangedText? = core.request(ServerMessage.FindTexts(changedPath()))

    /** Returns the parts of the change; null if the server does not keep its texts. Not for the EDT. */
    fun hunks(): List<Hunk>? = core.request(ServerMessage.ListHunks(changedPath()))?.hunks

    private fun changedPath(): ChangedPath {
        assertNotEdt()
        return ChangedPath(prompt.session, prompt.number, path)
    }
}

/** A prompt and its files. */
internal data class PromptChanges(
    /** The server that reported the prompt last. */
    val core: CompanionCore,
    val key: PromptKey,
    /** The prompt's first line; empty if it is unknown. */
    val title: String,
    val time: Long,
    val files: List<ChangedFile>,
    /** The files that changed while shell commands of the CLI ran. */
    private val found: Map<String, ChangeKind>,
) {
    /** The files that the server does not know. Those after [ChangeList.MAX_OTHERS] are only counted. */
    val others: Map<String, ChangeKind> = found - files.mapTo(HashSet()) { it.path }

    val beyond: List<String> get() = others.keys.drop(ChangeList.MAX_OTHERS)

    val more: Int get() = maxOf(others.size - ChangeList.MAX_OTHERS, 0)

    /** The listed files, by path. */
    val rows: List<ChangeRow> = (
        files.map { ChangeRow(core, key, it.path, it.kind, it) } +
            others.entries.take(ChangeList.MAX_OTHERS).map { (path, kind) -> ChangeRow(core, key, path, kind, null) }
    ).sortedBy { it.path }

    val shownTitle: String get() = ShownPath.plain(title).ifBlank { message("changes.untitled") }

    /** Without the title, because no log may contain a prompt. */
    override fun toString() = "prompt ${key.number} of session ${key.session}, ${rows.size} files"
}

/** Changed on one thread. */
internal class ChangeList {
    /** The newest prompt first. Any thread may read it. */
    @Volatile
    var prompts: List<PromptChanges> = emptyList()
        private set

    /** The number of changed files. A file that was changed in several prompts counts once. */
    val fileCount: Int
        get() {
            val paths = HashSet<String>()
            for (prompt in prompts) {
                for (row in prompt.rows) if (row.edit?.reverted != true) paths += row.path
                paths += prompt.beyond
            }
            return paths.size
        }

    private fun find(key: PromptKey): PromptChanges? = prompts.find { it.key == key }

    /** Takes over the state of a prompt. Returns whether the prompt is new in the list. */
    fun update(core: CompanionCore, change: CliChange): Boolean {
        if (change.hasLeft) {
            removeIf { it.key == change.key }
            return false
        }
        val old = find(change.key)
        val found = old?.others.orEmpty()
        val new = PromptChanges(core, change.key, change.title, change.time, change.files, found)
        put(new)
        return old == null && new.rows.isNotEmpty()
    }

    /** Adds files that changed while a command ran. */
    fun add(core: CompanionCore, command: CliCommand, others: Map<String, ChangeKind>) {
        if (others.isEmpty()) return
        val old = find(command.key)
        val all = LinkedHashMap(old?.others.orEmpty())
        for ((path, kind) in others) all.merge(path, kind, ChangeKind::then)
        val found = all.entries.take(MAX_OTHERS + MAX_COUNTED).associate { it.toPair() }
        put(
            old?.copy(core = core, found = found)
                ?: PromptChanges(core, command.key, command.title, command.time, emptyList(), found),
        )
    }

    /** Removes rows, which the user keeps. Of [whole] prompts the files that are only counted leave, too. */
    fun keep(rows: Collection<ChangeRow>, whole: Collection<PromptKey> = emptyList()) {
        removeIf { it.key in whole }
        for ((key, those) in rows.groupBy { it.prompt }) {
            val prompt = find(key) ?: continue
            val paths = those.mapTo(HashSet()) { it.path }
            put(prompt.copy(files = prompt.files.filter { it.path !in paths }, found = prompt.others - paths))
        }
    }

    fun removeIf(isGone: (PromptChanges) -> Boolean) {
        prompts = prompts.filterNot(isGone)
    }

    /** A prompt without rows leaves the list. */
    private fun put(prompt: PromptChanges) {
        val all = prompts.filter { it.key != prompt.key } + listOf(prompt).filter { it.rows.isNotEmpty() }
        val oldestFirst = compareBy<PromptChanges>({ it.time }, { it.key.number }, { it.key.session })
        prompts = all.sortedWith(oldestFirst.reversed())
    }

    companion object {
        /** The most files of commands that one prompt lists. */
        const val MAX_OTHERS = 500

        /** The most files that are counted beyond these. */
        private const val MAX_COUNTED = 10_000
    }
}

/** Returns the kind of this change of a file and a later one; null if there is no file before and after them. */
internal fun ChangeKind.then(last: ChangeKind): ChangeKind? =
    when {
        this == ChangeKind.CREATED && last == ChangeKind.DELETED -> null
        this == ChangeKind.CREATED -> this
        this == ChangeKind.DELETED && last == ChangeKind.CREATED -> ChangeKind.CHANGED
        else -> last
    }
