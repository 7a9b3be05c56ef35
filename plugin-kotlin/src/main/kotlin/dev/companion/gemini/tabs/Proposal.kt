// Keeps one proposal: its text, which the user edits, and its state.

package dev.companion.gemini.tabs

import com.intellij.diff.DiffContentFactory
import com.intellij.diff.fragments.LineFragment
import com.intellij.openapi.Disposable
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.EditorFactory
import com.intellij.openapi.fileTypes.FileType
import com.intellij.openapi.fileTypes.PlainTextFileType
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Disposer
import com.intellij.openapi.util.ThrowableComputable
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.Delivery
import dev.companion.gemini.core.OpenDiff
import dev.companion.gemini.core.ProposalKind
import dev.companion.gemini.core.ReasonArrival
import dev.companion.gemini.core.ResumedProposal
import dev.companion.gemini.core.ShownProposal
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.platform.after
import dev.companion.gemini.platform.documentListener
import dev.companion.gemini.platform.labelHistory
import dev.companion.gemini.platform.later
import dev.companion.gemini.target.ShownPath
import dev.companion.gemini.target.Target
import dev.companion.gemini.target.TargetException
import dev.companion.gemini.target.TextForm
import dev.companion.gemini.target.read
import java.util.concurrent.Future

/** The CLI's text, ready to be shown. Created off the EDT. */
internal class ProposedText(
    project: Project,
    target: Target,
    val diff: OpenDiff,
) {
    val text = diff.newContent
    val form = TextForm.of(text)
    val plain = TextForm.plain(text)

    /**
     * The type in which the platform shows files of the target's type. It is plain text if the
     * platform would show another text than the file's, as for a notebook.
     */
    val type: FileType
    val document: Document

    /** Whether an editor shows the file's own text. */
    val isPlain: Boolean

    /** The first comparison with the file; later ones follow the user's edits. */
    val changes: LineChanges?

    /** See [Target.isRecoded]. */
    val isRecoded: Boolean

    init {
        assertNotEdt()
        val shown = sequenceOf(target.type, PlainTextFileType.INSTANCE).firstNotNullOfOrNull { type ->
            val document = DiffContentFactory.getInstance().createEditable(project, plain, type).document
            Pair(type, document).takeIf { document.immutableCharSequence.contentEquals(plain) }
        } ?: throw TargetException(message("diff.error.large", target.path.toString()))
        type = shown.first
        document = shown.second
        isPlain = type === target.type
        val (current, proposed) = project.read {
            Pair(target.text ?: "", document.immutableCharSequence)
        }
        changes = LineChanges.between(current, proposed)
        isRecoded = target.isRecoded(proposed)
    }
}

/** A proposal from its arrival to its end, with or without a tab. For the EDT, except where it says otherwise. */
internal class Proposal(
    private val project: Project,
    val file: ProposalFile,
    core: CompanionCore,
    target: Target,
    private val proposed: ProposedText,
) : Disposable {
    enum class State {
        OPEN,

        /** The plugin is writing the file in place of the CLI, so nobody can decide the proposal. */
        WRITING,
        UNDELIVERED,
        ENDED,
    }

    /** Any thread. */
    @Volatile
    var state = State.OPEN
        private set

    /** The server that decides. If it has ended, the next one may follow. Any thread. */
    @Volatile
    var core = core
        private set

    /** The user's decision while no server runs. The next server gets it. */
    var deferred: UserDecision? = null
        private set

    /** Names the proposal to the next server. Any thread. */
    val shown: ShownProposal get() = ShownProposal(proposed.diff.diff, proposed.text)

    private var reason = proposed.diff.reason

    /** Whether the CLI has received the acceptance, if there is one. Any thread. */
    @Volatile
    var delivery = Delivery.DELIVERED
        private set

    /** The file's present state. */
    var target = target
        private set

    var position = ProposalPosition()
        private set

    /** The file's text when the proposal arrived; null if there was no file. */
    val before: CharSequence? = target.text

    /** Whether the text has changed since. */
    private var changed = false

    /**
     * Whether the file had unsaved changes when the proposal arrived. The CLI has never seen them.
     */
    private val wasUnsaved = isUnsaved()
    private val stamp = target.stamp
    private var changedOnDisk = false
    val isChanged: Boolean get() = changed || (isUnsaved() && changedOnDisk) || (wasUnsaved && !isUnsaved())

    val isDeleted: Boolean get() = kind == ProposalKind.CHANGE && !target.isInPlace
    val isCreated: Boolean get() = kind == ProposalKind.CREATE && (target.file != null || target.isCreated)
    private var form = target.form(proposed.form)
    private var comparison: Future<*>? = null

    /** The changed lines at the last comparison; null if the texts are too large. */
    var changes: LineChanges? = proposed.changes
        private set

    /** Whether the CLI reads or writes the file differently from the IDE, as of the last comparison. */
    var isRecoded = proposed.isRecoded
        private set

    /** The changed lines, if neither text has changed since. */
    val currentChanges: LineChanges?
        get() = changes?.takeIf { it.isOf(current, document.immutableCharSequence) }

    private val current: CharSequence get() = target.text ?: ""
    private var targetListening: Disposable? = null

    val path: String get() = file.targetPath

    /** The side that the user edits. */
    val document: Document get() = proposed.document

    /** The type of the view. */
    val type: FileType get() = proposed.type

    val isPlain: Boolean get() = proposed.isPlain

    /** The proposal's present text, in the form of its file. */
    val text: String
        get() = form().apply(if (isEdited) document.immutableCharSequence else TextForm.lineFeeds(proposed.text))

    /**
     * The accepted text for the CLI. One that replays edits keeps the file's line endings, but not
     * always its BOM. It receives its own text, byte for byte, if the user has changed nothing and
     * the BOM is right: then it makes the model's edit. Otherwise it writes the received text over
     * the whole file.
     */
    val accepted: String
        get() {
            val isUnchanged = replaysEdits && !isEdited && form().bom == proposed.form.bom
            return if (isUnchanged) proposed.text else text
        }

    val isEdited: Boolean get() = !document.immutableCharSequence.contentEquals(proposed.plain)

    /** Whether the file already has the proposal's text. */
    val isInFile: Boolean get() = target.text?.contentEquals(document.immutableCharSequence) == true

    /** The file's path in texts for the user. */
    val shownPath: String get() = ShownPath.of(project, target.path)

    /** The CLI's intention, however the file has changed since. */
    val kind: ProposalKind get() = proposed.diff.kind

    /** Whether the CLI repeats an unchanged edit in the file's present text. */
    val replaysEdits: Boolean get() = proposed.diff.replaysEdits

    val isPrivate: Boolean get() = proposed.diff.private

    var cli = proposed.diff.cli
        private set

    val offer: String
        get() = when (kind) {
            ProposalKind.CHANGE -> message("diff.changes", position.owner, shownPath)
            ProposalKind.CREATE -> message("diff.creates", position.owner, shownPath)
        }

    /** Facts that the user should know before deciding. */
    val remarks: List<Remark> get() = Remark.entries.filter { it.isTrueOf(this) }

    /** Whether the proposal would remove changes of the file. */
    val overwrites: Boolean get() = isStale || isUnsaved()

    /** The reason why a bulk answer must not accept it. */
    val obstacle: Remark? get() = remarks.find { it.isObstacle }

    /** Whether the file differs from the one that the proposal was made for. */
    val isStale: Boolean get() = isDeleted || isCreated || isChanged

    /** Whether its CLI may still receive the acceptance and write the file. */
    val isQueued: Boolean get() = delivery == Delivery.QUEUED

    /** Whether the model can get the reason of a rejection. */
    val takesReason: Boolean get() = file.decisions.isShared && reason != ReasonArrival.NEVER

    /** Says when the model gets the reason, as far as is known without reading the file. */
    val reasonTime: String
        get() = when {
            reason != ReasonArrival.NOW || isDeleted -> message("diff.reason.nextPrompt")
            isUnsaved() && !changedOnDisk -> message("diff.reason.now")
            isUnsaved() -> message("diff.reason.unknown")
            changed && !wasUnsaved -> message("diff.reason.nextPrompt")
            changed || wasUnsaved || changedOnDisk -> message("diff.reason.unknown")
            else -> message("diff.reason.now")
        }

    /** The reason why it stays open after the acceptance. */
    val undelivered: String get() = if (isQueued) "diff.undelivered.queued" else "diff.undelivered.unknown"

    init {
        listen()
        document.addDocumentListener(documentListener { project.later(::compare) }, this)
    }

    /** The change at a line of an editor; null if the editor shows neither side. */
    fun changeAt(editor: Editor, line: Int): LineFragment? =
        when (editor.document) {
            document -> currentChanges?.at(line, inProposal = true)
            target.document -> currentChanges?.at(line, inProposal = false)
            else -> unifiedLines(editor)?.changeAt(line)
        }

    /** The first line of the next change below a line of an editor; null below the last one. */
    fun nextChange(editor: Editor, line: Int): Int? =
        if (editor.document === document) changes?.next(line) else unifiedLines(editor)?.next(line)

    /** Returns where an editor of the tab shows a line of the proposal; null if that is unknown. */
    fun lineIn(editor: Editor, line: Int): Int? =
        if (editor.document === document) line else unifiedLines(editor)?.ofProposal(line)

    /** The lines of both sides, if [editor] is the unified viewer of the tab. */
    fun unifiedLines(editor: Editor): UnifiedLines? {
        if (editor.document === document || file.editors.none { it.contains(editor) }) return null
        val current = target.document ?: EditorFactory.getInstance().createDocument("")
        return currentChanges?.let { UnifiedLines.of(it.fragments, editor.document, current, document) }
    }

    /** Restores the file's lines for one of [currentChanges], as an undoable step. */
    fun revert(change: LineFragment) {
        assertEdt()
        val changes = currentChanges ?: return
        val work = ThrowableComputable<Unit, RuntimeException> {
            target.document?.let { changes.revert(change, it, document) } ?: document.setText("")
        }
        WriteCommandAction.writeCommandAction(project).withName(message("diff.revert")).compute(work)
    }

    /** Labels the Local History with the CLI and the file, but without text. If that fails, the edit goes on. */
    fun labelHistory() = project.labelHistory(message("diff.history", position.owner, shownPath))

    fun updatePosition(position: ProposalPosition) {
        assertEdt()
        this.position = position
        file.editors.forEach(ProposalEditor::showBanner)
    }

    /** Takes over the present state of the file. It may have been created, deleted, moved, converted or loaded. */
    fun retarget(target: Target) {
        assertEdt()
        val former = this.target
        val isSame = target.file == former.file && target.document === former.document &&
            target.isInPlace == former.isInPlace
        if (!isSame) form = form()
        this.target = target
        changed = isAnother()
        changedOnDisk = target.stamp != stamp
        if (!isSame) listen()
        compare()
        file.editors.forEach(if (isSame) ProposalEditor::showBanner else ProposalEditor::showProposal)
    }

    /**
     * The plugin begins to write its file, or the file was not written and the proposal waits again.
     */
    fun setWriting(isWriting: Boolean) {
        assertEdt()
        if (state == State.ENDED) return
        state = when {
            isWriting -> State.WRITING
            delivery == Delivery.DELIVERED -> State.OPEN
            else -> State.UNDELIVERED
        }
        file.editors.forEach(ProposalEditor::showBanner)
    }

    /** Keeps the text available, because no CLI has received the acceptance. */
    fun keepUndelivered(delivery: Delivery) {
        assertEdt()
        if (state != State.WRITING) state = State.UNDELIVERED
        this.delivery = delivery
        file.editors.forEach(ProposalEditor::showBanner)
    }

    /** Keeps the decision for the next server. A later one replaces it. */
    fun defer(decision: UserDecision) {
        assertEdt()
        deferred = decision
        file.editors.forEach(ProposalEditor::showBanner)
    }

    /** [core] decides from now on. */
    fun follow(core: CompanionCore) {
        assertEdt()
        this.core = core
        deferred = null
    }

    /** The proposal is open again in [core]. */
    fun resume(core: CompanionCore, resumed: ResumedProposal) {
        follow(core)
        cli = resumed.cli
        // The next server does not know which proposals are private.
        reason = if (isPrivate) ReasonArrival.NEVER else resumed.reason
        file.editors.forEach(ProposalEditor::showBanner)
    }

    fun end() {
        assertEdt()
        state = State.ENDED
        Disposer.dispose(this)
        file.editors.forEach(ProposalEditor::showBanner)
    }

    override fun dispose() {
        comparison?.cancel(false)
    }

    /** Returns the form of the present file. A deleted file has its last form. */
    private fun form(): TextForm = if (target.file?.isValid == true) target.form(proposed.form) else form

    fun isUnsaved(): Boolean = target.file?.let(FileOnDisk::isUnsaved) == true

    private fun listen() {
        targetListening?.let(Disposer::dispose)
        val listening = Disposer.newDisposable().also { Disposer.register(this, it) }
        targetListening = listening
        target.document?.addDocumentListener(documentListener { project.later(::noteChange) }, listening)
    }

    private fun noteChange() {
        assertEdt()
        if (state == State.ENDED) return
        changed = isAnother()
        file.editors.forEach(ProposalEditor::showBanner)
        compare()
    }

    /** Compares the texts again, off the EDT, when the user pauses. */
    private fun compare() {
        assertEdt()
        if (state == State.ENDED) return
        comparison?.cancel(false)
        val (target, now, proposed) = Triple(target, current, document.immutableCharSequence)
        // Another encoding changes neither text.
        val known = currentChanges
        comparison = after(COMPARISON_DELAY_MILLIS) {
            val found = known ?: LineChanges.between(now, proposed)
            val isRecoded = target.isRecoded(proposed)
            project.later {
                val isPast = this.target !== target || current !== now || document.immutableCharSequence !== proposed
                if (state != State.ENDED && !isPast) {
                    changes = found
                    this.isRecoded = isRecoded
                    file.editors.forEach(ProposalEditor::showBanner)
                }
            }
        }
    }

    private fun isAnother(): Boolean {
        val now = target.text ?: return false
        return before != null && !now.contentEquals(before)
    }

    private companion object {
        const val COMPARISON_DELAY_MILLIS = 100L
    }
}

/** The remarks in the banner, in this order. With an obstacle, a bulk answer must not accept the proposal. */
internal enum class Remark(
    val key: String,
    val isTrueOf: (Proposal) -> Boolean,
    val isObstacle: Boolean = true,
) {
    OUTSIDE("diff.remark.outside", { it.target.outside }),
    READ_ONLY("diff.remark.readOnly", { it.target.file?.isWritable == false }),
    DELETED("diff.remark.deleted", { it.isDeleted }),
    CREATED("diff.remark.created", { it.isCreated }),
    CHANGED("diff.remark.changed", { it.isChanged }),
    UNSAVED("diff.remark.unsaved", { !it.isChanged && it.isUnsaved() }),
    ENCODING("diff.remark.encoding", { it.isRecoded }),
    PRIVATE("diff.remark.private", { it.isPrivate }, isObstacle = false),
}
