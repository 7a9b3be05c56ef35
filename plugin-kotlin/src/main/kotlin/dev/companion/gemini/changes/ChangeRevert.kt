// Reverts changes of a CLI, by an edit that the user can undo, and asks before later changes are lost.

package dev.companion.gemini.changes

import com.intellij.notification.NotificationType
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.command.undo.DocumentReference
import com.intellij.openapi.command.undo.DocumentReferenceManager
import com.intellij.openapi.command.undo.GlobalUndoableAction
import com.intellij.openapi.command.undo.UndoManager
import com.intellij.openapi.diagnostic.Logger
import com.intellij.openapi.editor.Document
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.progress.ProcessCanceledException
import com.intellij.openapi.project.Project
import com.intellij.openapi.ui.Messages
import com.intellij.openapi.vfs.ReadonlyStatusHandler
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.util.ThrowableRunnable
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.FileToRevert
import dev.companion.gemini.core.Hunk
import dev.companion.gemini.core.PlannedFile
import dev.companion.gemini.core.PromptKey
import dev.companion.gemini.core.RevertAction
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.disk.PostponedWrites
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.laterWithoutDialog
import dev.companion.gemini.platform.notice
import dev.companion.gemini.target.ShownPath
import dev.companion.gemini.target.TargetException
import dev.companion.gemini.target.TextForm
import java.io.IOException
import java.nio.file.Paths

/**
 * Reads files in the background, gets the server's plan, asks its question, and writes all files in one command on the
 * EDT. If a file changes meanwhile, it begins again.
 */
internal class ChangeRevert(
    private val project: Project,
    private val service: ChangesService,
    /** The only part of one file to revert; null if all. */
    private val hunk: Hunk? = null,
    /** The document of the view where the user reverts, and can undo that. */
    private val view: Document? = null,
) {
    /** A file that is not reverted, and the reason, for the user. */
    private class Failure(
        val shownPath: String,
        val reason: String,
    )

    /** A file and the server's plan for it. */
    private class Planned(
        val versions: FileVersions,
        val plan: PlannedFile,
    ) {
        val rows get() = versions.rows
        val file get() = versions.file
        val shownPath get() = versions.shownPath

        /** The text to write; null if the file is deleted. */
        val before get() = plan.text

        val isAsBefore get() = plan.action == RevertAction.NOTHING

        /** Whether the text before is in the file, or in its document. */
        var isWritten = false

        /** The reason why it is not written; null if another plugin has canceled the command. */
        var failure: String? = null

        /** Whether the user can undo the revert. A document can't undo a change of the line endings or the BOM. */
        val isUndoable: Boolean
            get() {
                if (file != null && versions.document == null) return before == null
                val (before, disk) = Pair(before ?: return true, versions.disk ?: return true)
                return TextForm.of(before) == TextForm.of(disk)
            }
    }

    /** EDT. Rows that can't be reverted are left out. */
    fun revert(rows: Collection<ChangeRow>) {
        assertEdt()
        val order = service.prompts.map { it.key }.asReversed()
        val files = rows.filter { it.isRevertible }.groupBy { it.path }.values
        if (files.isNotEmpty()) look(files.map { those -> those.sortedBy { order.indexOf(it.prompt) } }, emptySet())
    }

    /** Reads the files and asks for a plan. The user has agreed to lose the changes of [agreed]. */
    private fun look(files: List<List<ChangeRow>>, agreed: Set<FileToRevert>) {
        ApplicationManager.getApplication().executeOnPooledThread {
            try {
                val failures = ArrayList<Failure>()
                val readable = ArrayList<FileVersions>()
                for (rows in files) {
                    val versions = FileVersions.of(project, rows)
                    val obstacle = if (versions == null) "changes.error.gone" else versions.obstacle
                    if (versions != null && obstacle == null) {
                        readable += versions
                    } else {
                        val shownPath = ShownPath.of(project, Paths.get(rows.first().path))
                        failures += Failure(shownPath, message(obstacle.orEmpty()))
                    }
                }
                val plan = service.revertPlan(readable, hunk)
                val planned = readable.zip(plan.files, ::Planned)
                project.laterWithoutDialog { decide(files, planned, plan.question, failures, agreed) }
            } catch (_: TargetException) {
                // The project has ended.
            }
        }
    }

    private fun decide(
        files: List<List<ChangeRow>>,
        planned: List<Planned>,
        question: String?,
        failures: MutableList<Failure>,
        agreed: Set<FileToRevert>,
    ) {
        assertEdt()
        val (refused, possible) = planned.partition { it.plan.action == RevertAction.REFUSE }
        refused.mapTo(failures) { Failure(it.shownPath, it.plan.reason ?: message("changes.error.gone")) }
        val warned = possible.filter { it.plan.warning != null && it.versions.toRevert(hunk) !in agreed }
        if (question == null || warned.isEmpty()) return write(possible, failures, agreed)
        when (RevertQuestion.ask(project, question, possible.size, warned.size)) {
            RevertQuestion.Answer.CANCEL -> {
                Unit
            }

            RevertQuestion.Answer.SHOW -> {
                ChangeDiffs(project, service).showThree(warned.map { it.rows })
            }

            // The files may have changed while the question was open.
            RevertQuestion.Answer.UNCHANGED -> {
                look(files - warned.mapTo(HashSet()) { it.rows }, agreed)
            }

            RevertQuestion.Answer.ALL -> {
                // The platform may save the same text meanwhile, as when the dialog takes the focus.
                val answered = warned.map { it.versions.toRevert(hunk) }
                look(files, agreed + answered + answered.map { it.saved() })
            }
        }
    }

    private fun write(files: List<Planned>, failures: MutableList<Failure>, agreed: Set<FileToRevert>) {
        assertEdt()
        val changing = files.filter { !it.isAsBefore }
        val existing = changing.mapNotNull { it.file }
        val readOnly = if (existing.isEmpty()) {
            emptyList()
        } else {
            ReadonlyStatusHandler.getInstance(project).ensureFilesWritable(existing).readonlyFiles.asList()
        }
        // The user may have typed meanwhile.
        if (!files.all { it.versions.isCurrent() }) return look(files.map { it.rows }, agreed)
        val (refused, writable) = changing.partition { it.file in readOnly }
        refused.mapTo(failures) { Failure(it.shownPath, message("diff.error.readOnly")) }
        val references = DocumentReferenceManager.getInstance()
        val undoneIn =
            writable.mapNotNull { it.file?.let(references::create) } + listOfNotNull(view?.let(references::create))
        val report = Report(undoneIn, service.servers(files.flatMap { it.rows }))
        try {
            if (writable.isNotEmpty()) inCommand(writable, report)
        } finally {
            // If another plugin cancels the command, the files up to then are reverted.
            val (written, unwritten) = writable.partition { it.isWritten }
            unwritten.mapTo(failures) { Failure(it.shownPath, it.failure ?: message("changes.error.canceled")) }
            val saved = written.filter { saveOrExplain(it, failures) }
            // Undo brings back no line endings: what such a file has by the next prompt decides.
            report.rows = saved.filter { it.isUndoable }.flatMap { it.rows }
            finish(files.filter { it.isAsBefore || it in saved }, failures, report)
        }
    }

    private fun inCommand(files: List<Planned>, report: Report) =
        WriteCommandAction
            .writeCommandAction(project)
            .withName(message("changes.command", files.size))
            .withGlobalUndo()
            .shouldRecordActionForActiveDocument(false)
            .run(
                ThrowableRunnable<RuntimeException> {
                    if (files.any { it.isUndoable }) UndoManager.getInstance(project).undoableActionPerformed(report)
                    files.forEach(::writeOrExplain)
                },
            )

    /** Writes the file, or notes why not. A failure must not keep the other files from their report. */
    private fun writeOrExplain(planned: Planned) {
        try {
            write(planned)
        } catch (e: IOException) {
            planned.failure = e.message.orEmpty()
        } catch (e: ProcessCanceledException) {
            throw e
        } catch (e: RuntimeException) {
            // Another plugin may have made the text read-only, or fail at its change.
            LOG.warn("a file was not reverted", e)
            planned.failure = e.message ?: e.javaClass.simpleName
        }
    }

    /** Returns whether the text before is on the disk, exactly: trailing spaces are not stripped. */
    private fun saveOrExplain(planned: Planned, failures: MutableList<Failure>): Boolean {
        if (planned.before == null) return true
        val file = planned.file ?: return true
        val document = planned.versions.document ?: return true
        val documents = FileDocumentManager.getInstance()
        try {
            documents.saveDocumentAsIs(document)
        } catch (e: RuntimeException) {
            // Another plugin has failed, or canceled. The other files must still be saved and reported.
            if (e !is ProcessCanceledException) LOG.warn("a file was not saved", e)
        }
        if (!documents.isFileModified(file)) return true
        failures += Failure(planned.shownPath, message("diff.error.notSaved"))
        return false
    }

    private fun write(planned: Planned) {
        val (before, file, document) = Triple(planned.before, planned.file, planned.versions.document)
        var canceled: ProcessCanceledException? = null
        when {
            before == null -> file?.delete(this)
            file == null -> FileOnDisk.create(planned.versions.path, before)
            document == null -> file.setBinaryContent(before.toByteArray())
            else -> canceled = overwrite(file, document, before, planned.versions.disk.orEmpty())
        }
        planned.isWritten = true
        if (canceled != null) throw canceled
    }

    /** Returns the exception of another plugin that has canceled the command after the file has got its text. */
    private fun overwrite(
        file: VirtualFile,
        document: Document,
        before: String,
        disk: String,
    ): ProcessCanceledException? {
        val form = TextForm.of(before)
        val plain = TextForm.plain(before)
        val isSame = plain.contentEquals(document.immutableCharSequence)
        // It may be read-only. Then the file must keep its form, too.
        val canceled = if (isSame) null else setText(document, plain)
        // A UTF-8 file that the CLI left with ASCII alone has the project's encoding now.
        if (TextForm.isRecoded(file, before) && !TextForm.isRecoded(file, disk)) file.charset = Charsets.UTF_8
        file.bom = if (form.bom) TextForm.UTF8_BOM else null
        if ('\n' in plain) file.detectedLineSeparator = form.lineEnding
        if (isSame || form.apply(plain) != before || TextForm.isRecoded(file, before)) {
            // A document has no line endings and no BOM, and writes one line ending only. It may have an encoding that
            // the IDE can only read.
            FileDocumentManager.getInstance().saveDocumentAsIs(document)
            file.setBinaryContent(before.toByteArray())
        }
        return canceled
    }

    /** Returns the exception of a listener that cancels. The platform throws it once the document has the text. */
    private fun setText(document: Document, text: String): ProcessCanceledException? {
        try {
            document.setText(text)
        } catch (e: ProcessCanceledException) {
            if (text.contentEquals(document.immutableCharSequence)) return e
            throw e
        }
        return null
    }

    /** Notifies the server if the user undoes the revert, or makes it again. The files still exist. */
    private inner class Report(
        undoneIn: List<DocumentReference>,
        val servers: Map<PromptKey, CompanionCore>,
    ) : GlobalUndoableAction(*undoneIn.toTypedArray()) {
        /** The rows of the files whose revert can be undone. */
        var rows = emptyList<ChangeRow>()

        var isUndone = false
            private set

        override fun undo() {
            isUndone = true
            service.revertUndone(rows, hunk, servers)
        }

        override fun redo() {
            isUndone = false
            service.reverted(rows, hunk, servers)
        }
    }

    /** Reports the files once they are on the disk. The user may undo the revert before that. */
    private fun finish(done: List<Planned>, failures: MutableList<Failure>, report: Report) {
        ApplicationManager.getApplication().executeOnPooledThread {
            val lost = HashSet<Planned>()
            for (planned in done) {
                val file = planned.file?.takeIf { it.isValid } ?: continue
                try {
                    PostponedWrites.flush(file)
                } catch (e: IOException) {
                    lost += planned
                    failures += Failure(planned.shownPath, e.message.orEmpty())
                }
            }
            project.laterWithoutDialog {
                val rows = done.filter { it !in lost }.flatMap { it.rows }
                if (rows.isNotEmpty()) service.reverted(rows, hunk, report.servers)
                if (report.isUndone) service.revertUndone(report.rows, hunk, report.servers)
                if (failures.isNotEmpty()) report(failures)
            }
        }
    }

    private fun report(failures: List<Failure>) {
        val lines = failures.map { message("changes.error", it.shownPath, it.reason) }
        val text = CompanionBundle.shortened(lines, SHOWN).joinToString("\n")
        notice(text, NotificationType.WARNING).notify(project)
    }

    private companion object {
        val LOG = Logger.getInstance("#dev.companion.gemini")

        /** The most files that a notification lists. */
        const val SHOWN = 5
    }
}

/** EDT. The question blocks until the answer; Enter and Esc choose the answer that changes nothing. */
internal object RevertQuestion {
    enum class Answer { CANCEL, SHOW, UNCHANGED, ALL }

    /** [question] is the server's, about [count] files. For [warned] of them the user would lose something. */
    fun ask(project: Project, question: String, count: Int, warned: Int): Answer {
        assertEdt()
        val unwarned = count - warned
        val choices = listOfNotNull(
            Answer.CANCEL to message("changes.ask.cancel"),
            Answer.SHOW to message("diff.changed.show"),
            (Answer.UNCHANGED to message("changes.ask.unchanged", unwarned)).takeIf { unwarned > 0 },
            Answer.ALL to if (count == 1) message("changes.ask.anyway") else message("changes.ask.all", count),
        )
        val labels = choices.map { it.second }.toTypedArray()
        val text = Platform.dialogMessage(question)
        val icon = Messages.getQuestionIcon()
        val answer = Messages.showDialog(project, text, message("changes.ask.title"), labels, 0, icon)
        return choices.getOrNull(answer)?.first ?: Answer.CANCEL
    }
}
