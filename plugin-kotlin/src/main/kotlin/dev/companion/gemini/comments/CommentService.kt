// Keeps the user's comments on lines for the model: marks them, follows their lines, and sends them to the server.

package dev.companion.gemini.comments

import com.intellij.notification.NotificationType
import com.intellij.openapi.Disposable
import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.EditorFactory
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.FileEditorManagerListener
import com.intellij.openapi.fileEditor.OpenFileDescriptor
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.openapi.vfs.VirtualFileManager
import com.intellij.openapi.vfs.newvfs.BulkFileListener
import com.intellij.openapi.vfs.newvfs.events.VFileEvent
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.CommentOnLines
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.disk.OpenedPath
import dev.companion.gemini.disk.RenamedFile
import dev.companion.gemini.disk.idePath
import dev.companion.gemini.disk.systemPath
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.after
import dev.companion.gemini.platform.copyToClipboard
import dev.companion.gemini.platform.documentListener
import dev.companion.gemini.platform.inBackground
import dev.companion.gemini.platform.later
import dev.companion.gemini.platform.laterWithoutDialog
import dev.companion.gemini.platform.notice
import dev.companion.gemini.platform.offer
import dev.companion.gemini.review.ProposalListener
import dev.companion.gemini.review.ProposalService
import dev.companion.gemini.tabs.Proposal
import dev.companion.gemini.target.ShownPath
import java.nio.file.Paths
import java.util.UUID
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicBoolean

/** For the EDT, except [delivered], [refused] and [restored]. */
class CommentService(private val project: Project) : Disposable {
    /** The comments that no model has got. Changed on the EDT. */
    private val comments = CopyOnWriteArrayList<Comment>()

    /** The ids of comments that the user has removed or rewritten. */
    private val removed = LinkedHashSet<String>()
    private val updateScheduled = AtomicBoolean()
    private var core: CompanionCore? = null
    private val proposals = ProposalService.getInstance(project)
    internal val drafts = CommentDrafts(project, ::update, comments::contains)

    /** Any thread. */
    private val followed get() = comments + drafts.lines

    private val searches = AppExecutorUtil.createBoundedApplicationPoolExecutor("Lines of comments", 1)
    private var isWatching = false

    /** Watches the editors once there is a comment or draft. Nobody ends the service of the default project. */
    internal fun watch() {
        if (isWatching) return
        isWatching = true
        val bus = project.messageBus.connect(this)
        bus.subscribe(ProposalListener.TOPIC, ProposalListener { update() })
        val tabs = object : FileEditorManagerListener {
            override fun fileOpened(source: FileEditorManager, file: VirtualFile) = update()
        }
        bus.subscribe(FileEditorManagerListener.FILE_EDITOR_MANAGER, tabs)
        val files = object : BulkFileListener {
            override fun after(events: List<VFileEvent>) {
                val renamed = events.mapNotNull { RenamedFile.of(it) }
                if (renamed.isNotEmpty()) project.later { renamed.forEach(::follow) }
                updateSoon()
            }
        }
        bus.subscribe(VirtualFileManager.VFS_CHANGES, files)
        val changes = documentListener { event ->
            if (event.isWholeTextReplaced) followed.forEach { it.replaced(event) }
            updateSoon()
        }
        EditorFactory.getInstance().eventMulticaster.addDocumentListener(changes, this)
    }

    /** Sends the comments on a file, or on the files in a folder, also if it has no tab. A proposal keeps its path. */
    private fun follow(renamed: RenamedFile) {
        assertEdt()
        followed.filter { proposalOf(it) == null && it.follow(renamed) }.forEach(::send)
    }

    /** Sends all comments to a server that has just started. The journal of the last one may have removed comments. */
    internal fun connect(core: CompanionCore?) {
        assertEdt()
        if (this.core === core) return
        this.core = null
        update()
        this.core = core ?: return
        removed.forEach { core.send(ServerMessage.CommentRemoved(it)) }
        comments.forEach { core.send(ServerMessage.CommentSet(it.params)) }
    }

    /** Returns the place of [lines], 0-based, in an editor of a file or of an open proposal; null in any other. */
    internal fun place(editor: Editor, lines: IntRange): CommentPlace? =
        place(editor.document, lines) ?: proposals.waiting().firstNotNullOfOrNull { proposal ->
            val proposed = proposal.unifiedLines(editor)?.inProposal(lines)
            proposed?.let { place(proposal.document, it) }
        }

    /** Returns the place of [lines], 0-based; null if the document is neither a file nor an open proposal. */
    internal fun place(document: Document, lines: IntRange): CommentPlace? {
        val proposal = proposals.waiting().find { it.document === document }
        if (proposal != null) return CommentPlace(document, proposal.path, true, lines)
        return localFile(document)?.let { CommentPlace(document, systemPath(it), false, lines) }
    }

    /** Returns the place of a comment, or the nearest one; null unless it is marked in a file or an open proposal. */
    internal fun placeOf(comment: Comment): CommentPlace? =
        comment.document?.let { place(it, comment.lines) }?.at(comment.lines)

    /** Returns the comment that contains the one line of [place], or that is on exactly its lines. */
    internal fun on(place: CommentPlace): Comment? =
        comments.find { it.document === place.document && place.lines.mean(it.lines) }

    /** The comments that no model has got, by file and line. */
    internal fun pending(): List<Comment> =
        comments.sortedWith(compareBy({ it.params.path }, { it.lines.first }, { it.params.id }))

    /**
     * Sends [text] as a comment on the lines of [draft], in place of the comment that the user rewrites. An empty text
     * removes that one. A rewritten comment is a new one, because a model may just be getting the old one.
     */
    internal fun write(draft: CommentDrafts.Draft, text: String) {
        assertEdt()
        val (old, lines) = Pair(draft.comment, draft.lines)
        update(lines)
        val params = lines.params.copy(id = UUID.randomUUID().toString(), text = text.trim())
        if (params.text != old?.params?.text) {
            if (old in comments) old?.let(::remove)
            if (params.text.isNotEmpty()) add(Comment(project, params, lines.inProposal), lines)
        }
        drafts.forget(draft)
    }

    /** Adds a comment with the mark of its draft. Without one it is looked for. */
    private fun add(comment: Comment, draft: Comment) {
        draft.document?.let { comment.mark(it, draft.lines) }
        comments += comment
        watch()
        send(comment)
        update(comment)
    }

    internal fun remove(comment: Comment) {
        assertEdt()
        drop(comment)
        removed += comment.params.id
        core?.send(ServerMessage.CommentRemoved(comment.params.id))
    }

    /** Shows the lines of a comment. */
    internal fun show(comment: Comment) {
        assertEdt()
        val proposal = proposalOf(comment)
        if (proposal != null) {
            proposals.review(proposal)
            proposal.file.editors.forEach { it.goTo(comment.lines.first) }
            return
        }
        val (path, line) = Pair(comment.params.path, comment.lines.first)
        inBackground {
            val file = OpenedPath.find(project, path)?.let(FileOnDisk::find)
            val show = { if (file?.isValid == true) OpenFileDescriptor(project, file, line, 0).navigate(true) }
            project.laterWithoutDialog(show)
        }
    }

    /** Names the lines of a comment. */
    internal fun shown(comment: Comment): String =
        ShownPath.of(project, Paths.get(comment.params.path)) + ':' + (comment.lines.first + 1)

    /** Follows the lines of all comments, and sends those that have changed. Looks for lines that have been deleted. */
    internal fun update() {
        assertEdt()
        if (!project.isDisposed) followed.forEach(::update)
    }

    /** Returns the document that has the lines. */
    private fun update(comment: Comment): Document? {
        val proposal = proposalOf(comment)?.document
        val document = proposal ?: comment.document?.takeIf { localFile(it) != null } ?: openFile(comment)
        val path = document?.takeIf { it !== proposal }?.let(::localFile)?.let(::systemPath) ?: comment.params.path
        if (comment.follow(document, path, proposal != null)) send(comment)
        if (document != null && comment.document == null) search(comment, document)
        return document
    }

    /** Sends a comment, but no draft. */
    private fun send(comment: Comment) {
        if (comment in comments) core?.send(ServerMessage.CommentSet(comment.params))
    }

    /** Looks for the lines of a comment in a copy of the text, off the EDT, once for each text. */
    private fun search(comment: Comment, document: Document) {
        val text = document.immutableCharSequence
        if (comment.searched === text) return
        comment.searched = text
        val params = comment.params
        val isOutdated = { document.immutableCharSequence !== text || comment !in followed }
        searches.execute {
            // The user has written meanwhile, and the next update looks in that text.
            if (isOutdated()) return@execute
            val copy = EditorFactory.getInstance().createDocument(text)
            val lines = LineContent.find(copy, params) ?: return@execute
            project.later {
                if (!isOutdated() && comment.document == null) {
                    comment.mark(document, lines)
                    update(comment)
                }
            }
        }
    }

    /** Any thread. Leaves time for the next key. */
    private fun updateSoon() {
        if (followed.isEmpty() || !updateScheduled.compareAndSet(false, true)) return
        after(UPDATE_INTERVAL_MILLIS) {
            updateScheduled.set(false)
            project.later(::update)
        }
    }

    /** Any thread. A model has got these comments. */
    internal fun delivered(ids: List<String>) =
        project.later {
            val delivered = comments.filter { it.params.id in ids }
            when (delivered.size) {
                0 -> Unit
                1 -> notify(message("comment.delivered", shown(delivered.single())), NotificationType.INFORMATION)
                else -> notify(message("comment.delivered.several", delivered.size), NotificationType.INFORMATION)
            }
            delivered.forEach(::drop)
            if (removed.removeAll(ids)) notify(message("comment.delivered.before"), NotificationType.WARNING)
        }

    /** Any thread. No model gets the comment, for this reason. The user can copy the text. */
    internal fun refused(id: String, reason: String) =
        project.later {
            val comment = comments.find { it.params.id == id } ?: return@later
            notice(message("comment.refused", shown(comment), reason), NotificationType.WARNING)
                .offer(message("comment.copy")) { copyToClipboard(comment.params.text) }
                .notify(project)
            drop(comment)
        }

    /** Any thread. The comments that the last server did not deliver. */
    internal fun restored(restored: List<CommentOnLines>) =
        project.later {
            val known = comments.map { it.params.id } + removed
            comments += restored.filter { it.id !in known }.map { Comment(project, it, inProposal = true) }
            watch()
            update()
        }

    private fun drop(comment: Comment) {
        comment.unmark()
        comments -= comment
    }

    private fun notify(text: String, type: NotificationType) = notice(text, type).notify(project)

    /** The open proposal that has the lines of a comment. */
    private fun proposalOf(comment: Comment): Proposal? =
        if (comment.inProposal) proposals.waiting().find { it.file.targetPath == comment.params.path } else null

    /** The document of a comment's file, if it has a tab. A CLI names files by their real paths. */
    private fun openFile(comment: Comment): Document? {
        val path = idePath(comment.params.path)
        val file = FileEditorManager.getInstance(project).openFiles.find {
            it.isInLocalFileSystem && (it.path == path || it.canonicalPath == path)
        }
        return file?.let(FileDocumentManager.getInstance()::getDocument)
    }

    private fun localFile(document: Document): VirtualFile? =
        FileDocumentManager.getInstance().getFile(document)?.takeIf { it.isInLocalFileSystem && it.isValid }

    override fun dispose() = Unit

    companion object {
        private const val UPDATE_INTERVAL_MILLIS = 1_000L

        fun getInstance(project: Project): CommentService = Platform.service(project, CommentService::class.java)
    }
}
