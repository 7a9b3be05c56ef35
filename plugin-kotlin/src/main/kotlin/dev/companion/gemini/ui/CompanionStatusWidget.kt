// Shows the widget in the status bar.

package dev.companion.gemini.ui

import com.intellij.openapi.project.Project
import com.intellij.openapi.wm.CustomStatusBarWidget
import com.intellij.openapi.wm.StatusBar
import com.intellij.openapi.wm.WindowManager
import com.intellij.ui.ClickListener
import com.intellij.ui.components.JBLabel
import dev.companion.gemini.CompanionBundle.message
import dev.companion.gemini.changes.ChangesListener
import dev.companion.gemini.changes.ChangesService
import dev.companion.gemini.core.assertEdt
import dev.companion.gemini.platform.KeyboardAccess
import dev.companion.gemini.platform.ifOpen
import dev.companion.gemini.platform.inBackground
import dev.companion.gemini.platform.later
import dev.companion.gemini.project.CompanionService
import dev.companion.gemini.project.CompanionState
import dev.companion.gemini.project.CompanionStateListener
import dev.companion.gemini.review.ProposalListener
import dev.companion.gemini.review.ProposalService
import java.awt.event.MouseEvent
import javax.swing.JComponent

/**
 * Shows an icon and the number of waiting proposals, or else of changed files, or else of connected CLIs. A click
 * or Enter opens [StatusPopup].
 */
abstract class CompanionStatusWidget(private val project: Project) : CustomStatusBarWidget {
    /** EDT. */
    private val label by lazy {
        JBLabel().apply {
            val click = object : ClickListener() {
                override fun onClick(event: MouseEvent, clickCount: Int): Boolean {
                    StatusPopup(project).show(this@apply)
                    return true
                }
            }
            click.installOn(this)
            KeyboardAccess.add(this) { StatusPopup(project).show(this) }
        }
    }

    /** EDT. The shown state. */
    private var state: CompanionState = CompanionState.Starting

    final override fun ID(): String = ID

    /** EDT. */
    final override fun getComponent(): JComponent = label

    /** Any thread. */
    final override fun install(statusBar: StatusBar) {
        val bus = project.messageBus.connect(this)
        bus.subscribe(CompanionStateListener.TOPIC, CompanionStateListener(::show))
        bus.subscribe(ProposalListener.TOPIC, ProposalListener { show(state) })
        bus.subscribe(ChangesListener.TOPIC, ChangesListener { show(state) })
        inBackground(::showFirst)
    }

    /** Creates the service and reads the icons off the EDT, because these first steps are slow. */
    private fun showFirst() {
        ServerStateText.loadIcons()
        val service = project.ifOpen { CompanionService.getInstance(project) } ?: return
        project.later { show(service.state) }
    }

    private fun show(state: CompanionState) {
        assertEdt()
        this.state = state
        val waiting = ProposalService.getInstance(project).waiting().size
        val changed = ChangesService.getInstance(project).fileCount
        label.icon = ServerStateText.icon(state)
        label.text = text(waiting, changed)
        label.toolTipText = tooltip(waiting, changed)
        label.accessibleContext.accessibleName = label.toolTipText
    }

    /** Returns the text next to the icon. */
    private fun text(waiting: Int, changed: Int): String {
        val connected = (state as? CompanionState.Running)?.status?.clis.orEmpty().size
        return when {
            waiting > 0 -> message("status.proposals", waiting)
            changed > 0 -> message("status.changed", changed)
            connected > 0 -> connected.toString()
            else -> ""
        }
    }

    private fun tooltip(waiting: Int, changed: Int): String {
        val title = ServerStateText.title(state)
        val text = if (waiting > 0) message("status.tooltip.proposals", title, waiting) else title
        val all = if (changed > 0) "$text, ${message("status.changed", changed)}" else text
        return message("status.tooltip", all)
    }

    override fun dispose() = Unit

    companion object {
        const val ID = "CompanionForGeminiCli"

        /** Opens the popup where the user looks, also without the widget. EDT. */
        internal fun showPopup(project: Project) {
            assertEdt()
            val widget = WindowManager.getInstance().getStatusBar(project)?.getWidget(ID) as? CompanionStatusWidget
            StatusPopup(project).show(widget?.component)
        }
    }
}
