// Provides answers to questions, and records notifications, for tests of proposals.

package dev.companion.gemini.review

import com.intellij.notification.Notification
import com.intellij.openapi.actionSystem.AnActionEvent
import com.intellij.openapi.actionSystem.DataContext
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.ui.Messages
import com.intellij.openapi.ui.TestDialog
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.shownNotifications
import java.io.File

abstract class QuestionTestCase : DiffTestCase() {
    protected val questions = ArrayList<String>()
    private lateinit var shown: List<Notification>

    /** The notifications of this test. One of an earlier test may arrive late. */
    protected val notified: List<Notification> get() = shown.filter { root.name in it.content }

    override fun setUp() {
        super.setUp()
        shown = shownNotifications(project, testRootDisposable)
        answering(CANCEL)
    }

    override fun tearDown() {
        Messages.setTestDialog(TestDialog.DEFAULT)
        super.tearDown()
    }

    /** Makes the user choose [choice] when asked. [meanwhile] runs while the question is open. */
    protected fun answering(choice: Int, meanwhile: () -> Unit = {}) =
        Messages.setTestDialog {
            questions += it
            meanwhile()
            choice
        }

    /** Types in the file [name]. */
    protected fun change(name: String, text: String) =
        WriteCommandAction.runWriteCommandAction(project) {
            checkNotNull(FileDocumentManager.getInstance().getDocument(virtualFile(File(path(name))))).setText(text)
        }

    /** The visible notifications. */
    protected val notices get() = notified.filterNot { it.isExpired }.map { it.content }

    protected fun follow(notification: Notification) {
        val event = AnActionEvent.createFromDataContext("test", null, DataContext { null })
        notification.actions.single().actionPerformed(event)
        UIUtil.dispatchAllInvocationEvents()
    }

    /** Returns the text that the last notification offers. */
    protected fun givenBack(): String? {
        follow(notified.last { it.actions.single().templatePresentation.text == "Show your edits" })
        val tab = myManager.openFiles.last { it.name.contains("(your edits)") }
        assertFalse("what is typed there would go with the tab", tab.isWritable)
        return FileDocumentManager.getInstance().getDocument(tab)?.text
    }

    protected companion object {
        /** The first choice, which changes nothing. */
        const val CANCEL = 0

        /** The second choice. */
        const val ALL = 1
    }
}
