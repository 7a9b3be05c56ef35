// Tests which lines and which text the field of a comment has, and what Enter and Esc do with them.

package dev.companion.gemini.comments

import com.intellij.openapi.actionSystem.CommonShortcuts
import com.intellij.openapi.actionSystem.ex.ActionUtil
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.WriteAction
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.impl.DocumentMarkupModel
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.fileEditor.TextEditor
import com.intellij.openapi.ui.popup.ComponentPopupBuilder
import com.intellij.openapi.ui.popup.JBPopup
import com.intellij.openapi.ui.popup.JBPopupFactory
import com.intellij.openapi.ui.popup.JBPopupListener
import com.intellij.openapi.ui.popup.LightweightWindowEvent
import com.intellij.openapi.vfs.VfsUtil
import com.intellij.testFramework.TestActionEvent
import com.intellij.ui.popup.PopupFactoryImpl
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.review.DiffTestCase
import org.picocontainer.MutablePicoContainer
import java.io.IOException
import java.lang.reflect.Proxy
import java.nio.file.Files
import java.nio.file.Paths
import javax.swing.JComponent

class CommentPopupTest : DiffTestCase() {
    private lateinit var comments: CommentService
    private lateinit var editor: Editor
    private val popups = ArrayList<Popup>()

    private val container get() = ApplicationManager.getApplication().picoContainer as MutablePicoContainer
    private lateinit var factory: Any

    /** A popup, as the user sees it. */
    private class Popup(private val input: CommentField) {
        var title = ""
        val text: String get() = input.area.text

        private val listeners = ArrayList<JBPopupListener>()
        val window: JBPopup = proxy { window, method, arguments ->
            if (method == "addListener") listeners += arguments.single() as JBPopupListener
            if (method == "cancel") listeners.forEach { it.onClosed(LightweightWindowEvent(window)) }
            null
        }

        fun type(text: String) {
            input.area.text = text
        }

        fun escape() = window.cancel()

        fun enter(text: String) {
            type(text)
            val enter = ActionUtil.getActions(input.area).single { it.shortcutSet === CommonShortcuts.ENTER }
            enter.actionPerformed(TestActionEvent(enter))
        }
    }

    override fun setUp() {
        super.setUp()
        comments = CommentService.getInstance(project)
        comments.connect(core)
        core.forget()
        editor = edit("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\n")
        factory = container.unregisterComponent(JBPopupFactory::class.java.name).getComponentInstance(container)
        val recording = object : PopupFactoryImpl() {
            override fun createComponentPopupBuilder(content: JComponent, focused: JComponent?) = recording(content)
        }
        container.registerComponentInstance(JBPopupFactory::class.java.name, recording)
    }

    override fun tearDown() {
        try {
            container.unregisterComponent(JBPopupFactory::class.java.name)
            container.registerComponentInstance(JBPopupFactory::class.java.name, factory)
            comments.pending().forEach(comments::remove)
            comments.connect(null)
            myManager.closeAllFiles()
        } finally {
            super.tearDown()
        }
    }

    /** Makes popups that show nothing, because the tests have no screen. */
    private fun recording(content: JComponent): ComponentPopupBuilder {
        val popup = Popup(content as CommentField).also(popups::add)
        return proxy<ComponentPopupBuilder> { proxy, method, arguments ->
            if (method == "setTitle") popup.title = arguments.single() as String
            if (method == "createPopup") popup.window else proxy
        }
    }

    private fun edit(name: String, text: String): Editor =
        myManager.openFile(virtualFile(file(name, text)), true).filterIsInstance<TextEditor>().single().editor

    /** Presses the key on these lines, from 1. */
    private fun key(lines: IntRange, editor: Editor = this.editor): Popup {
        CommentPopup.show(project, editor, lines.first - 1..lines.last - 1)
        return popups.last()
    }

    private fun key(line: Int, editor: Editor = this.editor) = key(line..line, editor)

    /** The user leaves a draft in a proposal, and accepts the proposal. */
    private fun endWithDraft(view: View, lines: IntRange, text: String) {
        val draft = key(lines, view.right)
        draft.type(text)
        draft.escape()
        view.click("Accept")
        await("the end") { !view.isOpen }
    }

    private fun icons(document: Document) =
        DocumentMarkupModel
            .forDocument(document, project, true)
            .allHighlighters
            .map { it.gutterIconRenderer }
            .filterIsInstance<CommentIcon>()

    /** Clicks the icon of the comment with this text. */
    private fun click(text: String): Popup {
        CommentPopup.show(project, editor, comments.pending().single { it.params.text == text })
        return popups.last()
    }

    /** The comments, as the server has them: `2-5 why`. */
    private val pending get() = comments.pending().map { it.params.run { "$line-$endLine $text" } }

    private fun change(document: Document, change: (Document) -> Unit) =
        WriteCommandAction.runWriteCommandAction(project) { change(document) }

    fun `test the key on one line of a comment edits the whole comment`() {
        key(2..5).enter("why")
        val popup = key(3)
        assertEquals("Comment for the CLI on Lines 2\u20135", popup.title)
        assertEquals("why", popup.text)
        popup.enter("how")
        assertEquals(listOf("2-5 how"), pending)
    }

    fun `test the key right after the lines of a comment were deleted edits it at the nearest line`() {
        key(5..6).enter("why")
        change(editor.document) { it.deleteString(it.getLineStartOffset(4), it.textLength) }
        val popup = key(5)
        assertEquals("Comment for the CLI on Line 5", popup.title)
        assertEquals("why", popup.text)
        popup.enter("how")
        assertEquals(listOf("5-5 how"), pending)
    }

    fun `test a draft of one comment is not shown for another`() {
        key(2..5).enter("outer")
        comments.write(comments.drafts.at(checkNotNull(comments.place(editor.document, 2..2)), null), "inner")
        val draft = click("outer")
        draft.type("outer, and more")
        draft.escape()
        assertEquals("inner", click("inner").text)
        popups.last().enter("inner, too")
        assertEquals(listOf("2-5 outer", "3-3 inner, too"), pending)
        assertEquals("outer, and more", click("outer").text)
        popups.last().enter("outer")
    }

    fun `test the draft of a comment that a model gets is a draft on its lines`() {
        key(2..3).enter("why")
        val draft = key(2)
        draft.type("why so")
        draft.escape()
        comments.delivered(comments.pending().map { it.params.id })
        UIUtil.dispatchAllInvocationEvents()
        assertEquals("why so", key(3).text)
        popups.last().enter("why so")
        assertEquals(listOf("2-3 why so"), pending)
    }

    fun `test a draft follows its lines, and the title names them`() {
        val draft = key(2..3)
        draft.type("why")
        draft.escape()
        change(editor.document) { it.insertString(0, "zero\n") }
        val popup = key(4)
        assertEquals("Comment for the CLI on Lines 3\u20134", popup.title)
        assertEquals("why", popup.text)
        popup.enter("why")
        assertEquals(listOf("3-4 why"), pending)
    }

    fun `test a draft of an ended proposal is sent for the lines that its field names, with an icon`() {
        val view = propose("a.txt", "one\ntwo\nTHREE\nfour\nfive\nsix\n")
        endWithDraft(view, 3..4, "why")
        change(editor.document) { it.setText("new\nnew\none\ntwo\nTHREE\nfour\nfive\nsix\n") }
        val popup = key(4)
        assertEquals("why", popup.text)
        assertEquals("Comment for the CLI on Lines 3\u20134", popup.title)
        popup.enter("why")
        assertEquals(listOf("3-4 why"), pending)
        assertEquals("one two", core.comments.last().content)
        assertEquals(1, icons(editor.document).size)
    }

    fun `test a draft of an ended proposal is in the file that the user has open by a link`() {
        file("real/b.txt", "one\ntwo\n")
        val link = Files.createSymbolicLink(Paths.get(path("link")), Paths.get(path("real")))
        val opened = virtualFile(link.resolve("b.txt").toFile())
        val linked = myManager.openFile(opened, true).filterIsInstance<TextEditor>().single().editor
        val view = propose("real/b.txt", "one\nTWO\n")
        endWithDraft(view, 2..2, "why")
        assertEquals("why", key(2, linked).text)
        popups.last().enter("why")
    }

    fun `test the draft of a comment follows it out of an ended proposal`() {
        val view = propose("a.txt", "one\ntwo\nTHREE\nfour\nfive\nsix\n")
        key(3, view.right).enter("why")
        endWithDraft(view, 3..3, "why so")
        change(editor.document) { it.setText("new\nnew\none\ntwo\nTHREE\nfour\nfive\nsix\n") }
        await("the icon") { icons(editor.document).size == 1 }
        val popup = click("why")
        assertEquals("Comment for the CLI on Line 5", popup.title)
        assertEquals("why so", popup.text)
        popup.enter("why so")
        assertEquals(listOf("5-5 why so"), pending)
    }

    fun `test a comment that is sent after the end of its proposal goes to the lines of the file`() {
        val view = propose("a.txt", "one\ntwo\nTHREE\nfour\nfive\nsix\n")
        val popup = key(3, view.right)
        view.click("Accept")
        await("the end") { !view.isOpen }
        change(editor.document) { it.setText("new\nnew\none\ntwo\nTHREE\nfour\nfive\nsix\n") }
        UIUtil.dispatchAllInvocationEvents()
        popup.enter("why")
        await("the icon") { icons(editor.document).size == 1 }
        assertEquals(listOf("5-5 why"), pending)
    }

    private fun anotherProgramWrites(name: String, text: String) =
        VfsUtil.markDirtyAndRefresh(false, false, false, virtualFile(file(name, text)))

    fun `test a draft stays on its line when another program writes lines above that begin alike`() {
        val editor = edit("b.txt", "{\n  a();\n  b();\n}\n")
        val popup = key(2, editor)
        anotherProgramWrites("b.txt", "{\n  new();\n  more();\n  a();\n  b();\n}\n")
        popup.enter("why")
        assertEquals(listOf("4-4 why"), pending)
        assertEquals("a();", core.comments.last().content)
    }

    fun `test a draft does not go to a line of another program that ends like its own`() {
        val editor = edit("b.txt", "a = 1;\nx();\ntail")
        val popup = key(2, editor)
        popup.type("why")
        popup.escape()
        anotherProgramWrites("b.txt", "new\nb = 2;\nx();\ny();\ntail")
        await("the draft") { key(3, editor).also { it.escape() }.text == "why" }
        key(3, editor).enter("why so")
        assertEquals(listOf("3-3 why so"), pending)
    }

    fun `test a draft is there again once its deleted file is there again`() {
        val draft = key(2)
        draft.type("why")
        draft.escape()
        val text = editor.document.text
        WriteAction.run<IOException> { FileDocumentManager.getInstance().getFile(editor.document)?.delete(this) }
        val popup = key(2, edit("a.txt", text))
        assertEquals("why", popup.text)
        popup.enter("why")
        assertEquals(listOf("2-2 why"), pending)
    }

    fun `test a draft in a proposal is not one in the file`() {
        val view = propose("a.txt", "one\ntwo\nTHREE\nfour\nfive\nsix\n")
        val draft = key(3, view.right)
        draft.type("why")
        draft.escape()
        assertEquals("", key(3).text)
        popups.last().escape()
        assertEquals("why", key(3, view.right).text)
        popups.last().enter("")
    }

    private companion object {
        /** Returns an object whose methods are [call], with the object, the name of the method and the arguments. */
        inline fun <reified T> proxy(crossinline call: (T, String, List<Any?>) -> Any?): T =
            Proxy.newProxyInstance(T::class.java.classLoader, arrayOf(T::class.java)) { proxy, method, arguments ->
                call(proxy as T, method.name, arguments.orEmpty().toList())
            } as T
    }
}
