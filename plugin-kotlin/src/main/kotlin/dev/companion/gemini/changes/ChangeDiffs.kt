// Shows a changed file in the platform's diff viewer.

package dev.companion.gemini.changes

import com.intellij.diff.DiffContentFactory
import com.intellij.diff.DiffDialogHints
import com.intellij.diff.DiffManager
import com.intellij.diff.chains.DiffRequestChainBase
import com.intellij.diff.chains.DiffRequestProducer
import com.intellij.diff.chains.DiffRequestProducerException
import com.intellij.diff.contents.DiffContent
import com.intellij.diff.requests.DiffRequest
import com.intellij.diff.requests.SimpleDiffRequest
import com.intellij.openapi.progress.ProgressIndicator
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.UserDataHolder
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.core.ChangedText
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.target.FileSide
import dev.companion.gemini.target.ShownPath
import dev.companion.gemini.target.TargetException
import dev.companion.gemini.target.TextForm
import java.nio.file.Paths

internal class ChangeDiffs(private val project: Project) {
    /** Shows the files of comparable [rows], beginning with [first]. Each is read when it is shown. EDT. */
    fun show(rows: List<ChangeRow>, first: ChangeRow) {
        assertEdt()
        val chain = Chain(rows.map { Producer(listOf(it), ::two) }, rows.indexOf(first))
        DiffManager.getInstance().showDiff(project, chain, DiffDialogHints.DEFAULT)
    }

    /** Shows the three texts of files that have changed since the CLI's edits. They are read-only. EDT. */
    fun showThree(files: List<List<ChangeRow>>) {
        assertEdt()
        val chain = Chain(files.map { Producer(it, ::three) }, 0)
        DiffManager.getInstance().showDiff(project, chain, DiffDialogHints.DEFAULT)
    }

    /** The text before the prompt, and the file itself, where the viewer's arrows revert changes. */
    fun two(file: FileVersions, texts: ChangedText): DiffRequest {
        val contents = DiffContentFactory.getInstance()
        val now = when {
            file.document != null -> FileSide(contents.create(project, file.document, file.type))
            file.now != null -> shown(file.now.toString(), file)
            else -> contents.createEmpty()
        }
        return SimpleDiffRequest(
            file.shownPath,
            if (texts.before == null) contents.createEmpty() else shown(texts.before, file),
            now,
            message(if (texts.before == null) "changes.side.none" else "changes.side.before"),
            message(if (file.file == null) "changes.side.deleted" else "changes.side.now"),
        )
    }

    fun three(file: FileVersions, texts: ChangedText): DiffRequest =
        SimpleDiffRequest(
            file.shownPath,
            shown(texts.before, file),
            shown(texts.after, file),
            shown(file.now?.toString(), file),
            message(if (texts.before == null) "changes.side.none" else "changes.side.before"),
            message(if (texts.after == null) "changes.side.after.deleted" else "changes.side.after"),
            message(if (file.now == null) "changes.side.deleted" else "changes.side.now"),
        )

    /** A viewer of three sides has no empty side, so a missing file has an empty text. */
    private fun shown(raw: String?, file: FileVersions): DiffContent =
        DiffContentFactory.getInstance().create(project, raw?.let(TextForm::plain).orEmpty(), file.type)

    private class Chain(
        private val producers: List<DiffRequestProducer>,
        first: Int,
    ) : DiffRequestChainBase(first) {
        override fun getRequests(): List<DiffRequestProducer> = producers
    }

    /** [rows] are those of one file, from the oldest to the newest. */
    private inner class Producer(
        private val rows: List<ChangeRow>,
        private val request: (FileVersions, ChangedText) -> DiffRequest,
    ) : DiffRequestProducer {
        override fun getName() = ShownPath.of(project, Paths.get(rows.first().path))

        override fun process(context: UserDataHolder, indicator: ProgressIndicator): DiffRequest {
            val file = try {
                FileVersions.of(project, rows)
            } catch (e: TargetException) {
                throw DiffRequestProducerException(e.message)
            }
            val (first, last) = Pair(rows.first().texts(), rows.last().texts())
            if (file == null || first == null || last == null) {
                throw DiffRequestProducerException(message("changes.error.gone"))
            }
            return request(file, ChangedText(first.before, last.after))
        }
    }
}
