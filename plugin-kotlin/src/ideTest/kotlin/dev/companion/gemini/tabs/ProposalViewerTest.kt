// Tests a proposal's tab whose diff viewer appears late, or not at all.

package dev.companion.gemini.tabs

import com.intellij.diff.DiffManager
import com.intellij.diff.DiffManagerImpl
import com.intellij.diff.DiffRequestPanel
import com.intellij.diff.requests.DiffRequest
import com.intellij.openapi.Disposable
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.project.Project
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.loggedErrors
import dev.companion.gemini.review.DiffTestCase
import org.picocontainer.ComponentAdapter
import org.picocontainer.MutablePicoContainer
import java.awt.Window
import javax.swing.JLabel

class ProposalViewerTest : DiffTestCase() {
    private val services get() = ApplicationManager.getApplication().picoContainer as MutablePicoContainer
    private val key = DiffManager::class.java.name
    private lateinit var platforms: ComponentAdapter

    override fun setUp() {
        super.setUp()
        platforms = checkNotNull(services.unregisterComponent(key))
    }

    override fun tearDown() {
        services.unregisterComponent(key)
        services.registerComponent(platforms)
        super.tearDown()
    }

    /** Creates each viewer after the first only when a test asks for it. */
    private class LateViewers : DiffManagerImpl() {
        var isLate = false
        val late = ArrayList<() -> Unit>()

        override fun createRequestPanel(project: Project?, parent: Disposable, window: Window?): DiffRequestPanel {
            val panel = super.createRequestPanel(project, parent, window)
            return object : DiffRequestPanel by panel {
                override fun setRequest(request: DiffRequest?) {
                    panel.setRequest(request.takeUnless { isLate })
                    if (isLate) late += { panel.setRequest(request) }
                }
            }
        }
    }

    fun `test the caret comes back once the viewer has its editor`() {
        val viewers = LateViewers()
        services.registerComponentInstance(key, viewers)
        val view = propose("a.txt", "one\ntwo\n")
        view.right.caretModel.moveToOffset(5)
        viewers.isLate = true
        file("a.txt", "created")
        virtualFile(root).refresh(false, true)
        await("the new request") { viewers.late.isNotEmpty() }
        viewers.late.forEach { it() }
        await("the caret") { view.right.caretModel.offset == 5 }
    }

    private class NoViewers : DiffManagerImpl() {
        override fun createRequestPanel(project: Project?, parent: Disposable, window: Window?): DiffRequestPanel =
            throw NoSuchMethodError("DiffRequestProcessor.init")
    }

    fun `test a tab without a viewer says why, and the proposal can be decided`() =
        loggedErrors { logged ->
            services.registerComponentInstance(key, NoViewers())
            val view = propose("a.txt", "two")
            val shown = UIUtil.findComponentsOfType(view.component, JLabel::class.java).mapNotNull { it.text }
            assertTrue("$shown", shown.any { "lacks DiffRequestProcessor.init. Update" in it })
            assertTrue("$logged", logged.single() is NoSuchMethodError)
            view.click("Reject")
            assertEquals(listOf("rejected a.txt"), calls)
            assertFalse(view.isOpen)
        }
}
