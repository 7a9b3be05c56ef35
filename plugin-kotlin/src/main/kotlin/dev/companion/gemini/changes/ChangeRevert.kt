// Takes changes of a CLI back, by an edit that the user can undo.

package dev.companion.gemini.changes

import com.intellij.notification.NotificationType
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.command.undo.GlobalUndoableAction
import com.intellij.openapi.command.undo.UndoManager
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.ReadonlyStatusHandler
import com.intellij.openapi.vfs.VfsUtil
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.util.ThrowableRunnable
import com.intellij.xml.util.XmlStringUtil
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.PostponedWrites
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.target.ShownPath
import dev.companion.gemini.target.TargetException
import dev.companion.gemini.target.TextForm
import java.io.IOException
import java.nio.file.Paths

/**
 * Reads texts and files in the background, asks, and writes all files in one command on the EDT. If a file changes
 * meanwhile, it begins again.
 */
internal class ChangeRevert(
    private val project: Project,
    private val service: ChangesService,
) {
    /** A file that is not reverted, and the reason, for the user. */
    private class Failure(
        val shownPath: String,
        val reason: String,
    )

    /** EDT. Rows that can't be taken back are left out. */
    fun revert(rows: Collection<ChangeRow>) {
        assertEdt()
        val order = service.prompts.map { it.key }.asReversed()
        val files = rows.filter { it.isRevertible }.groupBy { it.path }.values
        if (files.isNotEmpty()) look(files.map { those -> those.sortedBy { order.indexOf(it.prompt) } }, null)
    }

    /** [answer] is the user's answer to an earlier question about the same files. */
    private fun look(files: List<List<ChangeRow>>, answer: Asked?) {
        ApplicationManager.getApplication().executeOnPooledThread {
            try {
                val versions = files.associateWith { FileVersions.of(project, service, it) }
                later { decide(files, versions, answer) }
            } catch (_: TargetException) {
                // The project has ended.
            }
        }
    }

    /** The files whose later changes the user has agreed to lose, with the texts of the time of the question. */
    private class Asked(val agreed: Map<List<ChangeRow>, CharSequence?>)

    private fun decide(files: List<List<ChangeRow>>, found: Map<List<ChangeRow>, FileVersions?>, answer: Asked?) {
        assertEdt()
        val all = files.flatten()
        val failures = files.filter { found[it] == null }.mapTo(
            ArrayList(),
        ) { failure(it.first(), "changes.error.gone") }
        val known = files.mapNotNull { found[it] }
        known.mapNotNullTo(failures) { file -> file.obstacle?.let { Failure(file.shownPath, message(it)) } }
        val possible = known.filter { it.obstacle == null }
        val changed = possible.filter { file ->
            val isLater = file.rows.any { service.isChangedLater(it, all) }
            !file.isAsBefore && (file.isChangedSince || isLater) && !isAgreed(file, answer)
        }
        if (changed.isEmpty()) return write(possible, failures, files, answer)
        when (RevertQuestion.ask(project, possible, changed)) {
            RevertQuestion.Answer.CANCEL -> {
                Unit
            }

            RevertQuestion.Answer.SHOW -> {
                ChangeDiffs(project, service).showThree(changed)
            }

            RevertQuestion.Answer.UNCHANGED -> {
                write(possible - changed.toSet(), failures, files, answer)
            }

            RevertQuestion.Answer.ALL -> {
                val agreed = answer?.agreed.orEmpty() + changed.associate { it.rows to it.now }
                write(possible, failures, files, Asked(agreed))
            }
        }
    }

    private fun isAgreed(file: FileVersions, answer: Asked?): Boolean {
        val agreed = answer?.agreed ?: return false
        if (file.rows !in agreed) return false
        val then = agreed[file.rows]
        return if (then == null || file.now == null) then == null && file.now == null else then === file.now
    }

    private fun failure(row: ChangeRow, key: String) = Failure(ShownPath.of(project, Paths.get(row.path)), message(key))

    private fun write(
        files: List<FileVersions>,
        failures: MutableList<Failure>,
        all: List<List<ChangeRow>>,
        answer: Asked?,
    ) {
        assertEdt()
        val changing = files.filter { !it.isAsBefore }
        val existing = changing.mapNotNull { it.file }
        val readOnly = if (existing.isEmpty()) {
            emptyList()
        } else {
            ReadonlyStatusHandler.getInstance(project).ensureFilesWritable(existing).readonlyFiles.asList()
        }
        // The user may have typed while a question was open.
        if (!files.all { it.isCurrent() }) {
            val wanted = files.mapTo(HashSet()) { it.rows }
            return look(all.filter { it in wanted }, answer)
        }
        val written = ArrayList<FileVersions>()
        for (file in changing) {
            val reason = if (file.file in readOnly) message("diff.error.readOnly") else encodingProblem(file)
            if (reason == null) written += file else failures += Failure(file.shownPath, reason)
        }
        val report = Report(written.mapNotNull { it.file })
        val failed = if (written.isEmpty()) emptyMap() else inCommand(written, report)
        written.filter { it in failed }.mapTo(failures) { Failure(it.shownPath, failed.getValue(it)) }
        val done = files.filter { file -> (file.isAsBefore || file in written) && file !in failed }
        // Undo brings back no line endings: what such a file has by the next prompt decides.
        report.rows = written.filter { it !in failed && it.keepsForm }.flatMap { it.rows }
        finish(done, failures, report)
    }

    /** The platform would replace characters that the encoding lacks by question marks. */
    private fun encodingProblem(file: FileVersions): String? {
        val charset = file.file?.charset ?: return null
        val text = file.before ?: return null
        if (charset.canEncode() && charset.newEncoder().canEncode(text)) return null
        return message("diff.error.encoding", charset.displayName())
    }

    /** Returns the reasons of failures. */
    private fun inCommand(files: List<FileVersions>, report: Report): Map<FileVersions, String> {
        val failed = HashMap<FileVersions, String>()
        WriteCommandAction
            .writeCommandAction(project)
            .withName(message("changes.command", files.size))
            .withGlobalUndo()
            .shouldRecordActionForActiveDocument(false)
            .run(
                ThrowableRunnable<IOException> {
                    if (files.any { it.keepsForm }) UndoManager.getInstance(project).undoableActionPerformed(report)
                    for (file in files) {
                        try {
                            write(file)
                        } catch (e: IOException) {
                            failed[file] = e.message.orEmpty()
                        }
                    }
                },
            )
        val documents = FileDocumentManager.getInstance()
        for (file in files.filter { it !in failed }) {
            val document = file.document?.takeIf { file.before != null } ?: continue
            // Exactly the text before: trailing spaces are not stripped.
            documents.saveDocumentAsIs(document)
            if (file.file != null && documents.isFileModified(file.file)) failed[file] = message("diff.error.notSaved")
        }
        return failed
    }

    private fun write(versions: FileVersions) {
        val (before, file, document) = Triple(versions.before, versions.file, versions.document)
        when {
            before == null -> file?.delete(this)
            file == null || document == null -> create(versions, before)
            else -> overwrite(file, before, versions)
        }
    }

    private fun create(versions: FileVersions, before: String) {
        val directory = VfsUtil.createDirectories(versions.path.parent.toString())
        val file = directory.createChildData(this, versions.path.fileName.toString())
        file.setBinaryContent(before.toByteArray())
    }

    private fun overwrite(file: VirtualFile, before: String, versions: FileVersions) {
        val form = TextForm.of(before)
        val plain = TextForm.plain(before)
        file.bom = if (form.bom) TextForm.UTF8_BOM else null
        if ('\n' in plain) file.detectedLineSeparator = form.lineEnding
        val document = checkNotNull(versions.document)
        if (plain.contentEquals(document.immutableCharSequence)) {
            // Only line endings or the BOM differ, and a document has neither.
            FileDocumentManager.getInstance().saveDocumentAsIs(document)
            file.setBinaryContent(before.toByteArray(file.charset))
        } else {
            document.setText(plain)
        }
    }

    /** Tells the server if the user undoes the revert, or makes it again. [files] still exist. */
    private inner class Report(files: List<VirtualFile>) : GlobalUndoableAction(*files.toTypedArray()) {
        /** The rows of the files whose revert can be undone. */
        var rows = emptyList<ChangeRow>()

        var isUndone = false
            private set

        override fun undo() {
            isUndone = true
            service.revertUndone(rows)
        }

        override fun redo() {
            isUndone = false
            service.reverted(rows)
        }
    }

    /** Reports the files once they are on the disk. The user may undo the revert before that. */
    private fun finish(done: List<FileVersions>, failures: MutableList<Failure>, report: Report) {
        ApplicationManager.getApplication().executeOnPooledThread {
            val lost = HashSet<FileVersions>()
            for (versions in done) {
                val file = versions.file?.takeIf { it.isValid } ?: continue
                try {
                    PostponedWrites.flush(file)
                } catch (e: IOException) {
                    lost += versions
                    failures += Failure(versions.shownPath, e.message.orEmpty())
                }
            }
            later {
                val rows = done.filter { it !in lost }.flatMap { it.rows }
                if (rows.isNotEmpty()) service.reverted(rows)
                if (report.isUndone) service.revertUndone(report.rows)
                if (failures.isNotEmpty()) report(failures)
            }
        }
    }

    private fun report(failures: List<Failure>) {
        val shown = failures.take(SHOWN).map { message("changes.error", it.shownPath, it.reason) }
        val more = failures.size - SHOWN
        val lines = shown + if (more > 0) listOf(message("diff.ask.more", more)) else emptyList()
        Platform
            .notificationGroup()
            .createNotification(
                lines.joinToString("<br>") { XmlStringUtil.escapeString(it) },
                NotificationType.WARNING,
            ).setTitle(message("notification.title"))
            .notify(project)
    }

    private fun later(work: () -> Unit) =
        ApplicationManager.getApplication().invokeLater(work, Platform.nonModal, project.disposed)

    private companion object {
        /** The most files that a notification lists. */
        const val SHOWN = 5
    }
}
