// Lists the files that CLIs changed, by prompt. Without the platform.

package dev.companion.gemini.changes

import dev.companion.gemini.core.ChangeKind
import dev.companion.gemini.core.ChangedFile
import dev.companion.gemini.core.CliChange
import dev.companion.gemini.core.CliCommand
import dev.companion.gemini.core.PromptKey

internal val CliChange.key get() = PromptKey(session, prompt)

internal val CliCommand.key get() = PromptKey(session, prompt)

/** A file that changed while a shell command of the CLI ran. The server does not know it. */
internal data class OtherFile(
    val path: String,
    val kind: ChangeKind,
)

/** A file of one prompt, as a row of the list. */
internal data class ChangeRow(
    val prompt: PromptKey,
    val path: String,
    val kind: ChangeKind,
    /** Null for an [OtherFile]. */
    val edit: ChangedFile?,
) {
    /** Whether the plugin can revert the change. */
    val isRevertible: Boolean get() = edit != null && edit.revertible && !edit.reverted && !edit.isPrivate

    /** Whether the texts before and after can be compared. */
    val isComparable: Boolean get() = edit != null && edit.revertible && !edit.isPrivate
}

/** A prompt and its files. */
internal class PromptChanges(
    val key: PromptKey,
    /** The prompt's first line; empty if it is unknown. */
    val title: String,
    val time: Long,
    val files: List<ChangedFile>,
    others: List<OtherFile>,
) {
    private val edited = files.mapTo(HashSet()) { it.path }

    /** The files that the server does not know. Those after [ChangeList.MAX_OTHERS] are only counted. */
    val others: List<OtherFile> = others.filter { it.path !in edited }

    val beyond: List<OtherFile> get() = others.drop(ChangeList.MAX_OTHERS)

    val more: Int get() = maxOf(others.size - ChangeList.MAX_OTHERS, 0)

    /** The listed files, by path. */
    val rows: List<ChangeRow> =
        (
            files.map { ChangeRow(key, it.path, it.kind, it) } +
                this.others.take(ChangeList.MAX_OTHERS).map { ChangeRow(key, it.path, it.kind, null) }
        ).sortedBy { it.path }

    fun with(
        title: String = this.title,
        time: Long = this.time,
        files: List<ChangedFile> = this.files,
        others: List<OtherFile> = this.others,
    ) = PromptChanges(key, title, time, files, others)
}

/** Changed on one thread. */
internal class ChangeList {
    private val byKey = HashMap<PromptKey, PromptChanges>()

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
                prompt.beyond.mapTo(paths) { it.path }
            }
            return paths.size
        }

    operator fun get(key: PromptKey): PromptChanges? = byKey[key]

    /** Takes over the state of a prompt. Returns whether the prompt is new in the list. */
    fun update(change: CliChange): Boolean {
        val key = change.key
        val old = byKey[key]
        if (change.hasLeft) {
            remove(key)
            return false
        }
        val new = old?.with(change.title, change.time, change.files)
            ?: PromptChanges(key, change.title, change.time, change.files, emptyList())
        put(new)
        return old == null && new.rows.isNotEmpty()
    }

    /** Adds files that changed while a command ran. */
    fun add(command: CliCommand, others: List<OtherFile>) {
        if (others.isEmpty()) return
        val key = command.key
        val old = byKey[key]
        val known = LinkedHashMap<String, OtherFile>()
        old?.others.orEmpty().associateByTo(known) { it.path }
        for (other in others) {
            val before = known[other.path]
            val kind = if (before == null) other.kind else merged(before.kind, other.kind)
            if (kind == null) known -= other.path else known[other.path] = OtherFile(other.path, kind)
        }
        val all = known.values.take(MAX_OTHERS + MAX_COUNTED)
        val new = old?.with(others = all) ?: PromptChanges(key, command.title, command.time, emptyList(), all)
        put(new)
    }

    /** Removes rows, which the user keeps. Of [whole] prompts the files that are only counted leave, too. */
    fun keep(rows: Collection<ChangeRow>, whole: Collection<PromptKey> = emptyList()) {
        whole.forEach(byKey::remove)
        order()
        for ((key, those) in rows.groupBy { it.prompt }) {
            val prompt = byKey[key] ?: continue
            val paths = those.mapTo(HashSet()) { it.path }
            val left = prompt.with(
                files = prompt.files.filter { it.path !in paths },
                others = prompt.others.filter { it.path !in paths },
            )
            put(left)
        }
    }

    fun removeIf(isGone: (PromptKey) -> Boolean) {
        if (byKey.keys.removeIf(isGone)) order()
    }

    /** A prompt without rows leaves the list. */
    private fun put(prompt: PromptChanges) {
        if (prompt.rows.isEmpty()) return remove(prompt.key)
        byKey[prompt.key] = prompt
        order()
    }

    private fun remove(key: PromptKey) {
        byKey -= key
        order()
    }

    private fun order() {
        val oldestFirst = compareBy<PromptChanges>({ it.time }, { it.key.number }, { it.key.session })
        prompts = byKey.values.sortedWith(oldestFirst.reversed())
    }

    companion object {
        /** The most files of commands that one prompt lists. */
        const val MAX_OTHERS = 500

        /** The most files that are counted beyond these. */
        private const val MAX_COUNTED = 10_000

        /** Returns the kind of two changes of a file; null if there is no file before and after them. */
        fun merged(first: ChangeKind, last: ChangeKind): ChangeKind? =
            when {
                first == ChangeKind.CREATED && last == ChangeKind.DELETED -> null
                first == ChangeKind.CREATED -> first
                first == ChangeKind.DELETED && last == ChangeKind.CREATED -> ChangeKind.CHANGED
                else -> last
            }
    }
}
