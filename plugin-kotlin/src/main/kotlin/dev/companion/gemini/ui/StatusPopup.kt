// Shows the popup of the status widget.

package dev.companion.gemini.ui

import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.project.Project
import com.intellij.openapi.ui.popup.JBPopup
import com.intellij.openapi.ui.popup.JBPopupFactory
import com.intellij.ui.awt.RelativePoint
import com.intellij.ui.components.JBLabel
import com.intellij.ui.components.JBScrollPane
import com.intellij.util.ui.FormBuilder
import com.intellij.util.ui.JBUI
import com.intellij.xml.util.XmlStringUtil
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.CompanionBundle.shortened
import dev.companion.gemini.changes.ChangesService
import dev.companion.gemini.changes.ChangesToolWindow
import dev.companion.gemini.comments.Comment
import dev.companion.gemini.comments.CommentService
import dev.companion.gemini.comments.LineContent
import dev.companion.gemini.core.ProposalKind
import dev.companion.gemini.core.ServerStatus
import dev.companion.gemini.disk.systemPath
import dev.companion.gemini.platform.KeyboardAccess
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.project.CompanionService
import dev.companion.gemini.project.CompanionSettings
import dev.companion.gemini.project.CompanionState
import dev.companion.gemini.project.ProjectSetting
import dev.companion.gemini.review.ProposalService
import dev.companion.gemini.tabs.Proposal
import dev.companion.gemini.tabs.ProposalPosition
import dev.companion.gemini.target.ShownPath
import java.awt.Component
import java.awt.Dimension
import java.awt.FlowLayout
import java.awt.Font
import java.awt.GridBagConstraints
import java.awt.GridBagLayout
import java.awt.Insets
import java.awt.Point
import java.nio.file.Paths
import javax.swing.Box
import javax.swing.JComponent
import javax.swing.JPanel
import javax.swing.ScrollPaneConstants

/** EDT. Shows the state at the time when it opens. */
internal class StatusPopup(private val project: Project) {
    private val proposals = ProposalService.getInstance(project)
    private val comments = CommentService.getInstance(project)
    private var popup: JBPopup? = null

    /** The topmost link, which has the focus at first. */
    private var first: JComponent? = null

    /** Shows the popup above [component], or in the center for a user who has hidden the widget. */
    fun show(component: Component?) {
        val content = scrolling(content(CompanionService.getInstance(project)))
        val builder = JBPopupFactory.getInstance().createComponentPopupBuilder(content, first)
        val popup = builder.setRequestFocus(true).createPopup().also { popup = it }
        if (component?.isShowing == true) {
            popup.show(RelativePoint(component, Point(0, -popup.content.preferredSize.height)))
        } else {
            popup.showCenteredInCurrentWindow(project)
        }
    }

    /** The content may have a row for each of a hundred comments. */
    internal fun scrolling(content: JComponent): JComponent {
        val scroll = JBScrollPane(content)
        scroll.border = JBUI.Borders.empty(0, 0)
        KeyboardAccess.cycle(scroll)
        scroll.horizontalScrollBarPolicy = ScrollPaneConstants.HORIZONTAL_SCROLLBAR_NEVER
        val size = content.preferredSize
        val isHigh = size.height > JBUI.scale(MAX_HEIGHT)
        val width = size.width + if (isHigh) scroll.verticalScrollBar.preferredSize.width else 0
        scroll.preferredSize = Dimension(width, if (isHigh) JBUI.scale(MAX_HEIGHT) else size.height)
        return scroll
    }

    internal fun content(service: CompanionService): JComponent {
        val state = service.presentState
        val title = JBLabel(ServerStateText.title(state), ServerStateText.icon(state), JBLabel.LEADING)
        title.font = title.font.deriveFont(Font.BOLD)
        val form = FormBuilder.createFormBuilder().addComponent(title)
        when (state) {
            is CompanionState.Running -> rows(form, state.status)
            is CompanionState.Failed -> form.addComponent(text(state.message))
            is CompanionState.Unwanted -> form.addComponent(text(message("${state.key}.details")))
            CompanionState.Starting -> Unit
        }
        val waiting = proposals.waiting()
        if (waiting.isNotEmpty()) form.addComponent(inColumns(waiting.map(::proposal)))
        if (waiting.size > 1) {
            val acceptAll = link(message("status.popup.accept.all")) { proposals.acceptAll() }
            form.addComponent(inRow(acceptAll, link(message("status.popup.reject.all")) { proposals.rejectAll() }))
        }
        val changed = ChangesService.getInstance(project).fileCount
        if (changed > 0) {
            form.addComponent(inRow(link(message("status.changed", changed)) { ChangesToolWindow.open(project) }))
        }
        val pending = comments.pending()
        if (pending.isNotEmpty()) {
            row(form, "status.popup.comments", pending.size.toString())
            form.addComponent(inColumns(pending.map(::comment)))
        }
        val panel = form.addComponent(inRow(*links().toTypedArray()), LINK_GAP).panel
        panel.border = JBUI.Borders.empty(PADDING, PADDING + 2)
        return panel
    }

    private fun proposal(proposal: Proposal): List<JComponent?> =
        listOf(
            link(proposal.shownPath) { proposals.review(proposal) },
            proposal.changes?.let { JBLabel(it.summary) },
            proposal.position.cli?.let { JBLabel(ProposalPosition.nameOf(it)) },
            JBLabel(message("status.popup.new")).takeIf { proposal.kind == ProposalKind.CREATE },
            link(message("diff.accept"), proposal.shownPath) { proposals.accept(proposal) },
            link(message("diff.reject"), proposal.shownPath) { proposals.reject(proposal) },
        )

    private fun comment(comment: Comment): List<JComponent> {
        val text = shortened(LineContent.oneLine(comment.params.text), LONGEST)
        return listOf(
            link(comments.shown(comment)) { comments.show(comment) },
            JBLabel("<html>${XmlStringUtil.escapeString(text)}</html>"),
            link(message("comment.remove"), comments.shown(comment)) { comments.remove(comment) },
        )
    }

    /** Puts the parts of each row below those of the row above. */
    private fun inColumns(rows: List<List<JComponent?>>): JComponent {
        val table = JPanel(GridBagLayout()).apply { isOpaque = false }
        val place = GridBagConstraints()
        place.anchor = GridBagConstraints.LINE_START
        place.insets = Insets(0, 0, JBUI.scale(ROW_GAP), JBUI.scale(LINK_GAP))
        for ((y, row) in rows.withIndex()) {
            place.gridy = y
            for ((x, part) in row.withIndex()) {
                place.gridx = x
                part?.let { table.add(it, place) }
            }
        }
        return inRow(table)
    }

    /** Puts the links side by side, each with its own width. */
    private fun inRow(vararg links: JComponent): JComponent {
        val row = JPanel(FlowLayout(FlowLayout.LEADING, 0, 0)).apply { isOpaque = false }
        links.forEach { link ->
            row.add(link)
            row.add(Box.createHorizontalStrut(JBUI.scale(LINK_GAP)))
        }
        return row
    }

    private fun rows(form: FormBuilder, status: ServerStatus) {
        row(form, "status.popup.port", status.port.toString())
        if (status.listening.size > 1) row(form, "status.popup.listening", status.listening.joinToString(", "))
        status.notListening.forEach { form.addComponent(text(it)) }
        for (file in status.discoveryFiles) {
            val text = if (file.inPlace) file.path else message("status.popup.file.none", file.path)
            row(form, "status.popup.file", text)
        }
        row(form, "status.popup.connected", status.clis.size.toString())
        if (ProjectSetting.HIDE_CONTEXT.isOn(project)) {
            form.addComponent(text(message("status.popup.hidden")))
        } else {
            val inFront = FileEditorManager.getInstance(project).selectedFiles.filter { it.isInLocalFileSystem }
            for (path in inFront.map(::systemPath).distinct()) {
                val why = status.privateFiles[path] ?: continue
                row(form, "status.popup.private", ShownPath.of(project, Paths.get(path)))
                form.addComponent(text(why))
            }
        }
        if (ProjectSetting.REVIEW_ALL.isOn(project) && CompanionSettings.getInstance().values.review) {
            form.addComponent(text(message("status.popup.review.all")))
        }
        val unhooked = status.clis.count { it.awaitsHook }
        if (unhooked > 0) form.addComponent(text(message("status.popup.unhooked", unhooked)))
        row(form, "status.popup.diffs", proposals.waiting().size.toString())
    }

    private fun row(form: FormBuilder, key: String, value: String) {
        // A label that can be copied reads every text as HTML.
        form.addLabeledComponent(JBLabel(message(key)), JBLabel(XmlStringUtil.escapeString(value)).setCopyable(true))
    }

    /** Wraps long lines. */
    private fun text(text: String) =
        JBLabel("<html><div width=${JBUI.scale(TEXT_WIDTH)}>${XmlStringUtil.escapeString(text)}</div></html>")

    private fun links() =
        listOfNotNull(
            link(message("status.popup.report")) { CompanionCommands.copyHealthReport(project) },
            switch("status.popup.share.off", "status.popup.share.on", ProjectSetting.HIDE_CONTEXT),
            switch("status.popup.review", "status.popup.review.asked", ProjectSetting.REVIEW_ALL)
                .also { it.toolTipText = message("status.popup.review.tooltip") }
                .takeIf { CompanionSettings.getInstance().values.review },
            link(message("status.popup.restart")) { CompanionService.getInstance(project).restart() }
                .takeIf { CompanionCommands.canRestart(project) },
            link(message("status.popup.settings")) { CompanionCommands.openSettings(project) },
        )

    /** A link with the text [turnOn] or [turnOff]. */
    private fun switch(turnOn: String, turnOff: String, setting: ProjectSetting): JComponent {
        val isOn = setting.isOn(project)
        return link(message(if (isOn) turnOff else turnOn)) { setting.set(project, !isOn) }
    }

    /** A link in a row about [subject], which a screen reader reads with it. */
    private fun link(text: String, subject: String, command: () -> Unit): JComponent =
        link(text, command).also { it.accessibleContext.accessibleName = "$text $subject" }

    private fun link(text: String, command: () -> Unit): JComponent =
        Platform
            .link(text) {
                popup?.cancel()
                command()
            }.also { first = first ?: it }

    private companion object {
        const val LINK_GAP = 16
        const val ROW_GAP = 4
        const val PADDING = 10
        const val TEXT_WIDTH = 320
        const val MAX_HEIGHT = 500

        /** The longest comment in the list. */
        const val LONGEST = 60
    }
}
