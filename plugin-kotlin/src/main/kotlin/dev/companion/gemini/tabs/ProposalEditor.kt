// Shows a proposal in a tab: the platform's diff viewer below the plugin's banner.

package dev.companion.gemini.tabs

import com.intellij.diff.DiffContentFactory
import com.intellij.diff.DiffManager
import com.intellij.diff.DiffRequestPanel
import com.intellij.diff.requests.DiffRequest
import com.intellij.diff.requests.SimpleDiffRequest
import com.intellij.diff.util.DiffUserDataKeys
import com.intellij.diff.util.DiffUserDataKeysEx
import com.intellij.diff.util.Side
import com.intellij.openapi.actionSystem.ActionManager
import com.intellij.openapi.editor.Document
import com.intellij.openapi.editor.Editor
import com.intellij.openapi.editor.EditorFactory
import com.intellij.openapi.editor.LogicalPosition
import com.intellij.openapi.editor.ScrollType
import com.intellij.openapi.editor.event.EditorFactoryEvent
import com.intellij.openapi.editor.event.EditorFactoryListener
import com.intellij.openapi.fileEditor.FileEditor
import com.intellij.openapi.progress.ProcessCanceledException
import com.intellij.openapi.project.Project
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.xml.util.XmlStringUtil
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.KeyboardAccess
import dev.companion.gemini.platform.LOG
import dev.companion.gemini.platform.StaticFileEditor
import dev.companion.gemini.platform.StaticFileEditorProvider
import dev.companion.gemini.platform.later
import dev.companion.gemini.target.FileSide
import java.awt.BorderLayout
import java.awt.Component
import java.lang.ref.WeakReference
import javax.swing.JComponent
import javax.swing.JLabel
import javax.swing.JPanel
import javax.swing.SwingConstants
import javax.swing.SwingUtilities
import kotlin.properties.Delegates

class ProposalEditorProvider : StaticFileEditorProvider("companion-proposal") {
    override fun accept(project: Project, file: VirtualFile) = file is ProposalFile && file.proposal != null

    override fun createEditor(project: Project, file: VirtualFile): FileEditor =
        ProposalEditor(project, file as ProposalFile)
}

/** A tab of a [ProposalFile]. A split shows several. For the EDT. */
internal class ProposalEditor(
    private val project: Project,
    private val file: ProposalFile,
) : StaticFileEditor(file) {
    private val panel = ProposalPanel(this)

    /** Null if it can't be created. Then the tab shows the reason. */
    private val viewer = showingFailure { DiffManager.getInstance().createRequestPanel(project, this, null) }
    private var banner: ProposalBanner? = null

    /** The carets of both sides in the last viewer. */
    private var carets: Array<LogicalPosition>? = null

    /** The editor with the actions of its own. */
    private var withActions: WeakReference<Editor>? = null

    val proposal: Proposal? get() = file.proposal
    val targetPath: String get() = file.targetPath

    init {
        showingFailure {
            if (viewer != null) add(viewer)
            file.decisions.registerActions(panel, this)
        }
        file.editors += this
        showProposal()
        file.decisions.tabOpened()
    }

    private fun add(viewer: DiffRequestPanel) {
        panel.add(viewer.component, BorderLayout.CENTER)
        viewer.putContextHints(DiffUserDataKeys.PLACE, "Companion.Proposal")
        val listener = object : EditorFactoryListener {
            /** The viewer does not contain the editor yet. */
            override fun editorCreated(event: EditorFactoryEvent) = project.later(::addActions)
        }
        EditorFactory.getInstance().addEditorFactoryListener(listener, this)
    }

    /** Shows the present state of the tab. */
    fun showProposal() {
        assertEdt()
        val proposal = file.proposal ?: return
        showingFailure {
            viewer?.setRequest(request(proposal))
            addActions()
            showBanner()
        }
    }

    /** Adds the action to the present editor, because the viewer may replace its editors. */
    private fun addActions() {
        val editor = proposal?.let(::editorOf)?.takeIf { it !== withActions?.get() } ?: return
        withActions = WeakReference(editor)
        file.decisions.registerActions(editor)
    }

    /** Shows a failure in the tab. An editor that throws in its constructor, even an Error, has blocked IDEs. */
    private fun <T> showingFailure(work: () -> T): T? =
        try {
            work()
        } catch (e: ProcessCanceledException) {
            throw e
        } catch (e: Throwable) {
            val why =
                (e as? LinkageError)?.let(CompanionBundle::missing) ?: CompanionBundle.message("diff.error.internal")
            panel.add(JLabel(why, SwingConstants.CENTER), BorderLayout.CENTER)
            LOG.error(e)
            null
        }

    /** The editor of the proposal's side, or of both sides in the unified viewer. */
    val text: JComponent? get() = proposal?.let(::editorOf)?.contentComponent

    private fun editorOf(proposal: Proposal): Editor? =
        sideOf(proposal) ?: EditorFactory.getInstance().allEditors.filter(::contains).singleOrNull()

    /** Null in the unified viewer. */
    private fun sideOf(proposal: Proposal): Editor? =
        EditorFactory
            .getInstance()
            .getEditors(proposal.document)
            .find(::contains)

    fun contains(editor: Editor): Boolean = SwingUtilities.isDescendingFrom(editor.component, panel)

    /** Moves the caret to a line of the proposal, 0-based. */
    fun goTo(line: Int) {
        assertEdt()
        val proposal = proposal ?: return
        val editor = editorOf(proposal) ?: return
        val shown = proposal.lineIn(editor, line) ?: return
        editor.caretModel.moveToLogicalPosition(LogicalPosition(shown, 0))
        editor.scrollingModel.scrollToCaret(ScrollType.CENTER)
    }

    fun showBanner() {
        assertEdt()
        panel.reason?.proposalChanged()
        val banner = ProposalBanner(file.proposal ?: return, file.decisions)
        // The button must stay under the mouse of a user who is about to click.
        if (this.banner?.becomes(banner) == true) return
        this.banner = banner
        panel.banner = banner.create()
    }

    /** Opens the field for the reason of a rejection, or returns the focus to it. */
    fun askReason() {
        assertEdt()
        val field = panel.reason ?: ReasonField(project, this, file.decisions).also { panel.reason = it }
        field.proposalChanged()
        field.requestFocusInWindow()
    }

    fun focusBanner() = panel.focusBanner()

    /** Closes the field. If it has the focus, the focus returns to the text. */
    fun closeReason() {
        assertEdt()
        val hadFocus = panel.reason?.hasFocus() == true
        panel.reason = null
        if (hadFocus) text?.requestFocusInWindow()
    }

    private fun request(proposal: Proposal): DiffRequest {
        val contents = DiffContentFactory.getInstance()
        val target = proposal.target
        val current = target.document
            ?.let { FileSide(contents.create(project, it, target.type)) }
            ?: contents.create(project, "", target.type)
        val proposed = contents.create(project, proposal.document, proposal.type)
        val key = when {
            proposal.isDeleted -> "diff.side.deleted"
            target.file == null -> "diff.side.none"
            else -> "diff.side.current"
        }
        // The viewer shows a title in a label that can be copied, which reads every text as HTML.
        val left = CompanionBundle.message(key, XmlStringUtil.escapeString(proposal.shownPath))
        val right = CompanionBundle.message("diff.side.proposed")
        val request = object : SimpleDiffRequest(file.name, current, proposed, left, right) {
            /** A viewer that ends leaves its carets in its request. The next viewer begins with those in its own. */
            override fun onAssigned(isAssigned: Boolean) {
                if (isAssigned) {
                    putUserData(DiffUserDataKeysEx.EDITORS_CARET_POSITION, carets)
                } else {
                    carets = getUserData(DiffUserDataKeysEx.EDITORS_CARET_POSITION)
                }
                super.onAssigned(isAssigned)
            }
        }
        request.putUserData(DiffUserDataKeys.FORCE_READ_ONLY_CONTENTS, booleanArrayOf(true, false))
        request.putUserData(DiffUserDataKeys.PREFERRED_FOCUS_SIDE, Side.RIGHT)
        request.putUserData(
            DiffUserDataKeys.CONTEXT_ACTIONS,
            ProposalActionIds.IN_TOOLBAR.map(ActionManager.getInstance()::getAction),
        )
        return request
    }

    override fun getComponent(): JComponent = panel

    /**
     * Before the tab is visible, the viewer would return its toolbar. The unified viewer hides its text while it compares,
     * and gives the text the focus of its toolbar then.
     */
    override fun getPreferredFocusedComponent(): JComponent? =
        proposal?.let(::sideOf)?.contentComponent ?: viewer?.preferredFocusedComponent

    override fun getName(): String = CompanionBundle.message("diff.type")

    override fun getDocuments(): Array<Document> = proposal?.let { arrayOf(it.document) } ?: emptyArray()

    override fun dispose() = file.editorGone(this)
}

/** Actions use it to find the proposal with the focus. */
internal class ProposalPanel(val editor: ProposalEditor) : JPanel(BorderLayout()) {
    private val top = JPanel(BorderLayout()).also {
        KeyboardAccess.cycle(it)
        add(it, BorderLayout.NORTH)
    }

    var banner: JComponent? by inTop(BorderLayout.NORTH)

    /** The field for the reason of a rejection, while it is open. */
    var reason: ReasonField? by inTop(BorderLayout.SOUTH)

    private fun <T : JComponent> inTop(place: String) =
        Delegates.observable<T?>(null) { _, old, new ->
            old?.let(top::remove)
            new?.let { top.add(it, place) }
            revalidate()
            repaint()
        }

    /** Gives the first link the focus. Tab leads through the links and the field. */
    fun focusBanner() {
        top.focusTraversalPolicy.getFirstComponent(top)?.requestFocusInWindow()
    }

    companion object {
        fun around(component: Component?): ProposalPanel? =
            generateSequence(component) { it.parent }.filterIsInstance<ProposalPanel>().firstOrNull()
    }
}
