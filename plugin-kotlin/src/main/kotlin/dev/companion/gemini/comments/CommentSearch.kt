// Finds the lines of comments that have lost their mark.

package dev.companion.gemini.comments

import com.intellij.openapi.editor.Document
import com.intellij.openapi.project.Project
import com.intellij.util.concurrency.AppExecutorUtil
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.later
import java.util.WeakHashMap

/**
 * For the EDT. Searches off the EDT, and each text of a document only once. [found] is called on the EDT with the lines of
 * comments in a document, or without any if the document has changed meanwhile.
 */
internal class CommentSearch(
    private val project: Project,
    private val found: (Document, Map<Comment, IntRange>) -> Unit,
) {
    /** What has been looked for, by comment. */
    private val done = WeakHashMap<Comment, Pair<Document, CharSequence>>()
    private val worker = AppExecutorUtil.createBoundedApplicationPoolExecutor("Lines of comments", 1)

    /** Looks for the lines of comments in the documents that they belong to. */
    fun look(lost: Map<Document, List<Comment>>) {
        assertEdt()
        for ((document, comments) in lost) {
            val text = document.immutableCharSequence
            val new = comments.filterNot { done[it]?.first === document && done[it]?.second === text }
            new.associateWithTo(done) { Pair(document, text) }
            if (new.isNotEmpty()) search(document, text, new)
        }
    }

    private fun search(document: Document, text: CharSequence, comments: List<Comment>) {
        val all = comments.map { Pair(it, it.params) }
        worker.execute {
            val lines = LineContent.LinesOfText(text.toString())
            val places = LinkedHashMap<Comment, IntRange>()
            for ((comment, params) in all) {
                val count = params.endLine - params.line + 1
                val start = LineContent.find(lines, params.content, count, params.line - 1) ?: continue
                places[comment] = start until start + count
            }
            if (places.isEmpty()) return@execute
            project.later { found(document, if (document.immutableCharSequence === text) places else emptyMap()) }
        }
    }
}
