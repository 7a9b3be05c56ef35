// Tests that the CLI and the user see at once which class the IDE lacks.

package dev.companion.gemini.platform

import com.intellij.openapi.application.ApplicationInfo
import com.intellij.testFramework.LoggedErrorProcessor
import dev.companion.gemini.CompanionBundle
import dev.companion.gemini.RecordingCore
import dev.companion.gemini.changes.ChangesService
import dev.companion.gemini.comments.CommentService
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.Diagnostics
import dev.companion.gemini.core.DiagnosticsRequest
import dev.companion.gemini.core.EditorHost
import dev.companion.gemini.core.OpenDiff
import dev.companion.gemini.core.ProposalKind
import dev.companion.gemini.core.Responder
import dev.companion.gemini.core.ServerSettings
import dev.companion.gemini.diagnostics.DiagnosticsService
import dev.companion.gemini.project.CompanionService
import dev.companion.gemini.project.CompanionState
import dev.companion.gemini.project.ServiceTestCase
import dev.companion.gemini.review.Answer
import dev.companion.gemini.review.ProposalService
import org.apache.log4j.Logger
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicReference

class MissingMemberTest : ServiceTestCase() {
    /** The errors in the IDE's log. */
    private val logged = CopyOnWriteArrayList<Throwable>()

    override fun setUp() {
        super.setUp()
        LoggedErrorProcessor.setNewInstance(
            object : LoggedErrorProcessor() {
                override fun processError(text: String?, thrown: Throwable?, details: Array<out String>?, log: Logger) {
                    thrown?.let(logged::add)
                }
            },
        )
    }

    override fun tearDown() {
        LoggedErrorProcessor.restoreDefaultProcessor()
        super.tearDown()
    }

    /** Names of internal methods end with the module's name. */
    private fun Any.call(name: String, vararg arguments: Any): Any? {
        val method = javaClass.methods.first {
            it.name.substringBefore('$') == name &&
                it.parameterCount == arguments.size
        }
        return method.invoke(this, *arguments)
    }

    private fun assertNames(missing: String, sentence: String?) {
        val build = ApplicationInfo.getInstance().build.asString()
        val name = missing.replace('.', '/')
        assertEquals("This IDE, build $build, lacks $name. Update the IDE or the plugin.", sentence)
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

    private fun assertNoProposalWithout(missing: String) {
        val proposals = LackingLoader(missing).install(project, ProposalService::class)
        val answer = Answer()
        proposals.call("open", RecordingCore(), answer, OpenDiff("${project.basePath}/a", "text", ProposalKind.CREATE))
        await { answer.text != null }
        assertNames(missing, answer.text?.removePrefix("failed: "))
        assertEquals("none waits", emptyList<Any>(), proposals.call("waiting"))
    }

    fun testACLIGetsTheReasonWhyNoProposalCanBeMade() = assertNoProposalWithout("com.intellij.diff.DiffContentFactory")

    fun testACLIGetsTheReasonWhyNoProposalCanBeShown() =
        assertNoProposalWithout("com.intellij.openapi.fileEditor.ex.FileEditorManagerEx")

    fun testTheModelGetsTheReasonWhyThereAreNoProblems() {
        val missing = "com.intellij.psi.PsiDocumentManager"
        val service = LackingLoader(missing).install(project, DiagnosticsService::class)
        val report = AtomicReference<String>()
        val responder = object : Responder<Diagnostics> {
            override fun complete(answer: Diagnostics) = report.set(answer.toString())

            override fun fail(message: String) = report.set(message)
        }
        val file = createTempFile("a.txt", "text")
        service.call("find", responder, DiagnosticsRequest(listOf(file.path)))
        await { report.get() != null }
        assertNames(missing, report.get())
    }

    private fun assertNoServerWithout(missing: String) {
        val loader = LackingLoader(missing)
        loader.install(project, ProposalService::class)
        loader.install(project, DiagnosticsService::class)
        loader.install(project, CommentService::class)
        loader.install(project, ChangesService::class)
        val launch: (ServerSettings, EditorHost) -> CompanionCore = { _, _ -> RecordingCore() }
        val service = loader.install(project, CompanionService::class, launch)
        service.call("start")
        await { service.call("getState") is CompanionState.Failed }
        assertNames(missing, (service.call("getState") as CompanionState.Failed).message)
    }

    fun testTheUserSeesWhyNoServerCanStart() = assertNoServerWithout("com.intellij.openapi.roots.ProjectRootManager")

    fun testTheUserSeesWhyNothingCanBeListenedTo() = assertNoServerWithout("com.intellij.ProjectTopics")
}

private object FailingPart {
    init {
        error("broken")
    }

    fun use() = Unit
}
