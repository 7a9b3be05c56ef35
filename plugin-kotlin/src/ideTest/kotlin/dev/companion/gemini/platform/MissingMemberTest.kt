// Tests that the CLI and the user see at once which class the IDE lacks.

package dev.companion.gemini.platform

import com.intellij.openapi.application.ApplicationInfo
import com.intellij.openapi.components.impl.ComponentManagerImpl
import com.intellij.openapi.fileEditor.FileEditorManager
import com.intellij.openapi.fileEditor.impl.FileEditorManagerImpl
import com.intellij.openapi.util.Disposer
import com.intellij.ui.docking.DockManager
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.core.OpenDiff
import dev.companion.gemini.core.ProposalKind
import dev.companion.gemini.loggedErrors
import dev.companion.gemini.project.CompanionState
import dev.companion.gemini.project.ServiceTestCase
import dev.companion.gemini.review.Answer
import dev.companion.gemini.review.ProposalService

class MissingMemberTest : ServiceTestCase() {
    /** Replaces the project's tabs by ones whose API lacks a class. */
    private fun withoutTabs() {
        val lacking = object : FileEditorManagerImpl(project, DockManager.getInstance(project)) {
            override fun getOpenFiles() = throw NoClassDefFoundError(MISSING)
        }
        val components = project as ComponentManagerImpl
        val former = components.registerComponentInstance(FileEditorManager::class.java, lacking)
        Disposer.register(testRootDisposable) {
            components.registerComponentInstance(FileEditorManager::class.java, former)
        }
    }

    private fun assertNames(sentence: String?, logged: List<Throwable?>) {
        val build = ApplicationInfo.getInstance().build.asString()
        assertEquals("This IDE, build $build, lacks $MISSING. Update the IDE or the plugin.", sentence)
        await { logged.any { it is LinkageError } }
    }

    fun testAPartOfTheIDEThatFailedToStartIsNotCalledMissing() {
        val build = ApplicationInfo.getInstance().build.asString()
        val restart = "A part of this IDE, build $build, failed to start: %s. Restart the IDE."
        val first = runCatching { FailingPart.use() }.exceptionOrNull() as LinkageError
        val later = runCatching { FailingPart.use() }.exceptionOrNull() as LinkageError
        assertEquals(restart.format("java.lang.IllegalStateException: broken"), CompanionBundle.missing(first))
        assertEquals(restart.format(FailingPart::class.java.name), CompanionBundle.missing(later))
    }

    fun testACLIGetsTheReasonWhyNoProposalCanBeMade() =
        loggedErrors { logged ->
            withoutTabs()
            val proposals = ProposalService.getInstance(project)
            val answer = Answer()
            proposals.open(RecordingCore(), answer, OpenDiff("${project.basePath}/a", "text", ProposalKind.CREATE))
            await { answer.text != null }
            assertNames(answer.text?.removePrefix("failed: "), logged)
            assertEquals("none waits", emptyList<Any>(), proposals.waiting())
        }

    fun testTheUserSeesWhyNoServerCanStart() =
        loggedErrors { logged ->
            val service = serviceWith { _, _ -> throw NoClassDefFoundError(MISSING) }
            service.start()
            await { service.state is CompanionState.Failed }
            assertNames((service.state as CompanionState.Failed).message, logged)
        }

    private companion object {
        const val MISSING = "com/intellij/Missing"
    }
}

private object FailingPart {
    init {
        error("broken")
    }

    fun use() = Unit
}
