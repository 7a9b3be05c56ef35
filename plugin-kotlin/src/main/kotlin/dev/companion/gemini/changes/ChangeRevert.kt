// Reverts changes of a CLI, by an edit that the user can undo, and asks before later changes are lost.

package dev.companion.gemini.changes

import com.intellij.notification.NotificationType
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.command.undo.DocumentReference
import com.intellij.openapi.command.undo.DocumentReferenceManager
import com.intellij.openapi.command.undo.GlobalUndoableAction
import com.intellij.openapi.command.undo.UndoManager
import com.intellij.openapi.editor.Document
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.progress.ProcessCanceledException
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.ReadonlyStatusHandler
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.util.ThrowableRunnable
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.FileToRevert
import dev.companion.gemini.core.Hunk
import dev.companion.gemini.core.PlannedFile
import dev.companion.gemini.core.RevertAction
import dev.companion.gemini.core.RevertPlan
import dev.companion.gemini.core.ServerMessage
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.disk.FileOnDisk
import dev.companion.gemini.disk.PostponedWrites
import dev.companion.gemini.platform.LOG
import dev.companion.gemini.platform.ask
import dev.companion.gemini.platform.inBackground
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
    /** The only part of one file to revert; null if all. */
    private val hunk: Hunk? = null,
    /** The document of the view where the user reverts, and can undo that. */
    private val view: Document? = null,
) {
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

        var isWritten = false

        /** The reason why it is not written; null if another plugin has canceled the command. */
        var failure: String? = null

        /** Whether the document has the text before, apart from its form. */
        val isInDocument: Boolean
            get() {
                val (text, document) = Pair(before ?: return false, versions.document ?: return false)
                return TextForm.plain(text).contentEquals(document.immutableCharSequence)
            }

        /** Whether the file has the text before, or gets it by a save. */
        val isMade: Boolean
            get() {
                val before = before ?: return file?.isValid != true
                val file = FileOnDisk.known(versions.path) ?: return false
                if (versions.document != null && !isInDocument) return false
                // Without a document there was no file, or an empty one.
                return FileOnDisk.isUnsaved(file) || file.length == before.toByteArray().size.toLong()
            }

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
        val order = ChangesService.getInstance(project).prompts.map { it.key }.asReversed()
        val files = rows.filter { it.isRevertible }.groupBy { it.path }.values
        if (files.isNotEmpty()) look(files.map { those -> those.sortedBy { order.indexOf(it.prompt) } }, emptySet())
    }

    /** Reads the files and asks for a plan. The user has agreed to lose the changes of [agreed]. */
    private fun look(files: List<List<ChangeRow>>, agreed: Set<FileToRevert>) {
        inBackground {
            try {
                val failures = ArrayList<String>()
                val readable = ArrayList<FileVersions>()
                for (rows in files) {
                    val versions = FileVersions.of(project, rows)
                    val obstacle = if (versions == null) "changes.error.gone" else versions.obstacle
                    if (versions != null && obstacle == null) {
                        readable += versions
                    } else {
                        val shownPath = ShownPath.of(project, Paths.get(rows.first().path))
                        failures += failure(shownPath, message(obstacle.orEmpty()))
                    }
                }
                val plan = plan(readable)
                val planned = readable.zip(plan.files, ::Planned)
                project.laterWithoutDialog { decide(files, planned, plan.question, failures, agreed) }
            } catch (_: TargetException) {
                // The project has ended.
            }
        }
    }

    /** Refuses all files if the server has ended. */
    private fun plan(files: List<FileVersions>): RevertPlan {
        val core = files.firstOrNull()?.rows?.first()?.core
        val toRevert = files.map { it.toRevert(hunk) }
        return core?.request(ServerMessage.PlanRevert(toRevert)) ?: RevertPlan(toRevert.map { PlannedFile(it.path) })
    }

    private fun decide(
        files: List<List<ChangeRow>>,
        planned: List<Planned>,
        question: String?,
        failures: MutableList<String>,
        agreed: Set<FileToRevert>,
    ) {
        assertEdt()
        val (refused, possible) = planned.partition { it.plan.action == RevertAction.REFUSE }
        refused.mapTo(failures) { failure(it.shownPath, it.plan.reason ?: message("changes.error.gone")) }
        val warned = possible.filter { it.plan.warning != null && it.versions.toRevert(hunk) !in agreed }
        if (question == null || warned.isEmpty()) return write(files, possible, failures, agreed)
        val (count, unwarned) = Pair(possible.size, possible.size - warned.size)
        val choices = LinkedHashMap<String, () -> Unit>()
        choices[message("changes.ask.cancel")] = {}
        choices[message("diff.changed.show")] = { ChangeDiffs(project).showThree(warned.map { it.rows }) }
        // The files may have changed while the question was open.
        if (unwarned > 0) {
            choices[message("changes.ask.unchanged", unwarned)] =
                { look(files - warned.mapTo(HashSet()) { it.rows }, agreed) }
        }
        choices[if (count == 1) message("changes.ask.anyway") else message("changes.ask.all", count)] = {
            // The platform may save the same text meanwhile, as when the dialog takes the focus.
            val answered = warned.map { it.versions.toRevert(hunk) }
            look(files, agreed + answered + answered.map { it.saved() })
        }
        val answer = project.ask(message("changes.ask.title"), question, choices.keys.toList())
        choices.values.elementAtOrNull(answer)?.invoke()
    }

    private fun write(
        files: List<List<ChangeRow>>,
        possible: List<Planned>,
        failures: MutableList<String>,
        agreed: Set<FileToRevert>,
    ) {
        assertEdt()
        val changing = possible.filter { !it.isAsBefore }
        val existing = changing.mapNotNull { it.file }
        val readOnly = ReadonlyStatusHandler.getInstance(project).ensureFilesWritable(existing).readonlyFiles
        // The user may have typed meanwhile.
        if (!possible.all { it.versions.isCurrent() }) return look(files, agreed)
        val (refused, writable) = changing.partition { it.file in readOnly }
        refused.mapTo(failures) { failure(it.shownPath, message("diff.error.readOnly")) }
        val references = DocumentReferenceManager.getInstance()
        val undoneIn =
            writable.mapNotNull { it.file?.let(references::create) } + listOfNotNull(view?.let(references::create))
        val report = Report(undoneIn)
        try {
            if (writable.isNotEmpty()) inCommand(writable, report)
        } finally {
            // If another plugin cancels the command, the files up to then are reverted.
            val (reverted, failed) = writable.partition { it.isWritten && save(it) }
            failed.mapTo(failures) { failure(it.shownPath, it.failure ?: message("changes.error.canceled")) }
            // Undo brings back no line endings: what such a file has by the next prompt decides.
            report.rows = reverted.filter { it.isUndoable }.flatMap { it.rows }
            finish(possible.filter { it.isAsBefore || it in reverted }, failures, report)
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
            planned.isWritten = true
        } catch (e: IOException) {
            planned.failure = e.message.orEmpty()
        } catch (e: RuntimeException) {
            // Another plugin may have made the text read-only, or fail or cancel before the change or after it.
            planned.isWritten = planned.isMade
            if (e is ProcessCanceledException) throw e
            LOG.warn("a plugin failed at a revert", e)
            if (!planned.isMade) planned.failure = e.message ?: e.javaClass.simpleName
        }
    }

    private fun write(planned: Planned) {
        val (before, file, document) = Triple(planned.before, planned.file, planned.versions.document)
        when {
            before == null -> file?.delete(this)
            file == null -> FileOnDisk.create(planned.versions.path, before)
            document == null -> file.setBinaryContent(before.toByteArray())
            else -> overwrite(planned, file, document, before)
        }
    }

    private fun overwrite(planned: Planned, file: VirtualFile, document: Document, before: String) {
        val form = TextForm.of(before)
        val plain = TextForm.plain(before)
        val isSame = planned.isInDocument
        try {
            // It may be read-only. Then the file must keep its form, too.
            if (!isSame) document.setText(plain)
        } finally {
            // The platform throws the exception of a listener that cancels once the document has the text.
            if (planned.isInDocument) {
                // A UTF-8 file that the CLI left with ASCII alone has the project's encoding now.
                val isRecoded = TextForm.isRecoded(file, planned.versions.disk.orEmpty())
                if (TextForm.isRecoded(file, before) && !isRecoded) file.charset = Charsets.UTF_8
                file.bom = if (form.bom) TextForm.UTF8_BOM else null
                if ('\n' in plain) file.detectedLineSeparator = form.lineEnding
                // A document has no line endings and no BOM, and writes one line ending only. It may have an encoding
                // that the IDE can only read.
                val isLossy = isSame || form.apply(plain) != before || TextForm.isRecoded(file, before)
                if (isLossy && save(planned)) file.setBinaryContent(before.toByteArray())
            }
        }
    }

    /** Returns whether the document is saved, as it is: trailing spaces are not stripped. */
    private fun save(planned: Planned): Boolean {
        val (file, document) = Pair(planned.file ?: return true, planned.versions.document ?: return true)
        if (planned.before == null) return true
        // After a failure, a save would write what the document has, without mixed line endings.
        if (planned.failure != null) return false
        try {
            FileDocumentManager.getInstance().saveDocumentAsIs(document)
        } catch (e: RuntimeException) {
            // Another plugin has failed, or canceled. The other files must still be saved and reported.
            if (e !is ProcessCanceledException) LOG.warn("a file was not saved", e)
        }
        if (FileOnDisk.isUnsaved(file)) planned.failure = message("diff.error.notSaved")
        return planned.failure == null
    }

    /** Notifies the servers if the user undoes the revert, or makes it again. The files still exist. */
    private inner class Report(undoneIn: List<DocumentReference>) : GlobalUndoableAction(*undoneIn.toTypedArray()) {
        /** The rows of the files whose revert can be undone. */
        var rows = emptyList<ChangeRow>()

        var isUndone = false
            private set

        override fun undo() {
            isUndone = true
            ChangesService.report(rows, hunk, ServerMessage::RevertUndone)
        }

        override fun redo() {
            isUndone = false
            ChangesService.report(rows, hunk, ServerMessage::ChangesReverted)
        }
    }

    /** Reports the files once they are on the disk. The user may undo the revert before that. */
    private fun finish(done: List<Planned>, failures: MutableList<String>, report: Report) {
        inBackground {
            val written = done.filter { planned ->
                try {
                    FileOnDisk.known(planned.versions.path)?.let { PostponedWrites.flush(it) }
                    true
                } catch (e: IOException) {
                    failures += failure(planned.shownPath, e.message.orEmpty())
                    false
                }
            }
            project.laterWithoutDialog {
                ChangesService.report(written.flatMap { it.rows }, hunk, ServerMessage::ChangesReverted)
                if (report.isUndone) ChangesService.report(report.rows, hunk, ServerMessage::RevertUndone)
                if (failures.isNotEmpty()) report(failures)
            }
        }
    }

    /** Says that a file is not reverted. */
    private fun failure(shownPath: String, reason: String) = message("changes.error", shownPath, reason)

    private fun report(failures: List<String>) =
        notice(CompanionBundle.shortened(failures, SHOWN).joinToString("\n"), NotificationType.WARNING).notify(project)

    private companion object {
        /** The most files that a notification lists. */
        const val SHOWN = 5
    }
}
