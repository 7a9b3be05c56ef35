// Tests answers to requests for diagnostics: from the disk, from the daemon, and in time.

package dev.companion.gemini.diagnostics

import com.intellij.ide.PowerSaveMode
import com.intellij.json.codeinsight.JsonDuplicatePropertyKeysInspection
import com.intellij.openapi.application.WriteAction
import com.intellij.openapi.command.WriteCommandAction
import com.intellij.openapi.fileEditor.FileDocumentManager
import com.intellij.openapi.fileEditor.TextEditor
import com.intellij.openapi.fileTypes.ex.FileTypeManagerEx
import com.intellij.openapi.project.DumbServiceImpl
import com.intellij.openapi.project.ex.ProjectManagerEx
import com.intellij.openapi.util.io.FileUtil
import com.intellij.openapi.vfs.LocalFileSystem
import com.intellij.openapi.vfs.VirtualFile
import com.intellij.psi.PsiDocumentManager
import com.intellij.psi.PsiManager
import com.intellij.testFramework.FileEditorManagerTestCase
import com.intellij.testFramework.fixtures.impl.CodeInsightTestFixtureImpl
import com.intellij.util.ArrayUtil
import com.intellij.util.ui.UIUtil
import com.jetbrains.rider.cpp.fileType.CppFileType
import dev.companion.gemini.core.Diagnostic
import dev.companion.gemini.core.Diagnostics
import dev.companion.gemini.core.DiagnosticsRequest
import dev.companion.gemini.core.FileDiagnostics
import dev.companion.gemini.core.Responder
import dev.companion.gemini.core.Severity
import dev.companion.gemini.dispatchUntil
import java.io.File
import java.nio.file.Files
import java.nio.file.Paths
import java.util.concurrent.TimeUnit

/** Records the answer to a request, if there is one. A second answer fails the test. */
private class Answered : Responder<Diagnostics> {
    @Volatile
    var files: List<FileDiagnostics>? = null
        private set

    override fun complete(answer: Diagnostics) {
        check(files == null) { "answered twice" }
        files = answer.files
    }

    override fun fail(message: String) = error(message)
}

class DiagnosticsTest : FileEditorManagerTestCase() {
    private lateinit var root: File
    private val service get() = DiagnosticsService.getInstance(project)

    override fun setUp() {
        super.setUp()
        root = File(checkNotNull(project.basePath), "problems-${System.nanoTime()}").also { check(it.mkdirs()) }
    }

    override fun tearDown() {
        try {
            FileUtil.delete(root)
        } finally {
            super.tearDown()
        }
    }

    fun `test a file that was just written and is not open is analyzed`() {
        write("new.json", "{\n  \"\uD83D\uDE00\": 1 \"b\": 2\n}\n")
        val found = find("new.json")
        assertNull(found.incomplete)
        assertEquals(listOf("2:10 error: ',' or '}' expected, got '\"b\"' [JSON]"), found.lines())
    }

    fun `test what changed on the disk since is taken from there`() {
        write("a.xml", "<a><b></a>\n")
        assertEquals(listOf(Severity.ERROR), find("a.xml").diagnostics.map { it.severity }.distinct())
        write("a.xml", "<a><b/></a>\n\n")
        assertEquals(emptyList<String>(), find("a.xml").lines())
        write("a.xml", "<a>\n")
        assertEquals(listOf(Severity.ERROR), find("a.xml").diagnostics.map { it.severity }.distinct())
    }

    fun `test an inspection says its name, and only problems as severe as asked are reported`() {
        myFixture.enableInspections(JsonDuplicatePropertyKeysInspection())
        write("twice.json", "{\"a\": 1, \"a\": 2}\n")
        val found = find("twice.json").lines()
        assertEquals(listOf("1:2 warning", "1:10 warning"), found.map { it.substringBefore(": ") })
        assertTrue("$found", found.all { it.endsWith("[JSON Duplicate keys in object literals]") })
        assertEquals(emptyList<String>(), find("twice.json", Severity.ERROR).lines())
    }

    fun `test the daemon's work is waited for, and not repeated`() {
        val file = open("shown.json", "{\"a\": }\n")
        val answer = ask("shown.json")
        analyze(file)
        assertEquals(listOf("1:6 error: <value> expected, got '}' [JSON]"), answer.file().lines())
        val again = ask("shown.json").file()
        assertEquals(listOf("1:6 error: <value> expected, got '}' [JSON]"), again.lines())
        assertNull(again.incomplete)
    }

    fun `test a problem that is mended on the disk is not reported again`() {
        val file = open("mended.json", "{\"a\": }\n")
        analyze(file)
        write("mended.json", "{\"a\": 12}\n")
        val answer = ask("mended.json")
        dispatchUntil(10, "the new text") { "12" in document(file).text }
        analyze(file)
        assertEquals(emptyList<String>(), answer.file().lines())
        assertNull(answer.file().incomplete)
    }

    fun `test an analysis that does not come to its end is waited for only so long`() {
        analyze(open("waiting.json", "{\"a\": , \"b\": 1}\n"))
        assertEquals(1, find("waiting.json").diagnostics.size)
        write("waiting.json", "{\"a\": 12, \"b\": 1}\n")
        val found = find("waiting.json")
        assertEquals("the analysis has not finished", found.incomplete)
        assertEquals("what was found is of another text", emptyList<String>(), found.lines())
    }

    fun `test an IDE that is busy answers all the same`() {
        write("busy.json", "{\"a\": }\n")
        val answer = ask("busy.json")
        val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10)
        // The test blocks the EDT until then.
        while (answer.files == null && System.nanoTime() < deadline) Thread.sleep(1)
        assertNotNull("no answer in time", answer.files)
        assertEquals("the analysis has not finished", answer.file().incomplete)
        assertEquals(1, find("busy.json").diagnostics.size)
    }

    fun `test what was not looked at in time says whether the IDE is indexing`() {
        val reasons = listOf(true, false).map { isIndexing ->
            val answered = Answered()
            Answer(answered, listOf("a.json")) { isIndexing }.send()
            answered.files?.single()?.incomplete
        }
        assertEquals(listOf("the IDE is still indexing", "the analysis has not finished"), reasons)
    }

    fun `test what is typed and not saved stays, and is what is analyzed`() {
        val file = open("typed.json", "{}\n")
        WriteCommandAction.runWriteCommandAction(project) { document(file).setText("{\"typed\": }\n") }
        write("typed.json", "{\"written\": 1}\n")
        val answer = ask("typed.json")
        analyze(file)
        assertEquals("the editor has unsaved changes", answer.file().incomplete)
        assertEquals(1, answer.file().diagnostics.size)
        assertEquals("{\"typed\": }\n", document(file).text)
        WriteCommandAction.runWriteCommandAction(project) {
            FileDocumentManager.getInstance().reloadFromDisk(document(file))
        }
    }

    fun `test a file that the user has open by a link is analyzed as it is there`() {
        File(root, "real").mkdir()
        Files.createSymbolicLink(Paths.get(path("link")), Paths.get(path("real")))
        val file = open("link/a.json", "{}\n")
        WriteCommandAction.runWriteCommandAction(project) { document(file).setText("{\"typed\": }\n") }
        val answer = ask("real/a.json")
        analyze(file)
        val found = answer.file()
        assertEquals("the editor has unsaved changes", found.incomplete)
        assertEquals(1, found.diagnostics.size)
        assertEquals("by the name that the CLI has for it", path("real/a.json"), found.path)
        WriteCommandAction.runWriteCommandAction(project) {
            FileDocumentManager.getInstance().reloadFromDisk(document(file))
        }
    }

    fun `test an IDE that is indexing is waited for, and says so`() {
        write("dumb.json", "{\"a\": }\n")
        val dumb = DumbServiceImpl.getInstance(project)
        dumb.isDumb = true
        try {
            assertEquals("the IDE is still indexing", find("dumb.json").incomplete)
            val answer = ask("dumb.json")
            UIUtil.dispatchAllInvocationEvents()
            dumb.isDumb = false
            assertEquals(1, answer.file().diagnostics.size)
        } finally {
            dumb.isDumb = false
        }
    }

    fun `test without the daemon a file that shows is analyzed`() {
        open("saving.json", "{\"a\": }\n")
        PowerSaveMode.setEnabled(true)
        try {
            assertEquals(1, find("saving.json").diagnostics.size)
        } finally {
            PowerSaveMode.setEnabled(false)
        }
    }

    fun `test a file that shows is analyzed while only the window of another project may be active`() {
        val manager = ProjectManagerEx.getInstanceEx()
        val other = checkNotNull(manager.newProject("other", File(root, "other").path, false, false))
        manager.openProject(other)
        try {
            open("behind.json", "{\"a\": }\n")
            val found = find("behind.json")
            assertEquals(1, found.diagnostics.size)
            assertNull(found.incomplete)
        } finally {
            manager.forceCloseProject(other, true)
        }
    }

    fun `test of a file in a tab that does not show it is known what was found`() {
        val hidden = open("hidden.json", "{\"a\": }\n")
        analyze(hidden)
        open("above.json", "{}\n")
        val found = find("hidden.json")
        assertEquals(1, found.diagnostics.size)
        assertNull(found.incomplete)
    }

    fun `test what the IDE can say nothing of is not called faultless`() {
        write("a.txt", "text\n")
        File(root, "folder").mkdir()
        File(root, "a.png").writeBytes(byteArrayOf(1, 0, 2))
        assertEquals(0, ProcessBuilder("mkfifo", path("fifo.json")).start().waitFor())
        assertEquals("the IDE treats this file as plain text", find("a.txt").incomplete)
        for (name in listOf("none.json", "no\u0000name.json")) {
            assertEquals(name, "the IDE does not find this file", find(name).incomplete)
        }
        for (name in listOf("folder", "a.png", "fifo.json")) {
            assertEquals(name, "the IDE does not analyze this file", find(name).incomplete)
        }
    }

    @Suppress("DEPRECATION") // its replacement is newer than 2018.3
    private fun withFilesOfABackend(use: () -> Unit) {
        val types = FileTypeManagerEx.getInstanceEx()
        WriteAction.run<RuntimeException> {
            types.registerFileType(CppFileType)
            types.associateExtension(CppFileType, "nova")
        }
        try {
            use()
        } finally {
            myManager.closeAllFiles()
            WriteAction.run<RuntimeException> { types.unregisterFileType(CppFileType) }
        }
    }

    fun `test what another process analyzes is not called faultless`() =
        withFilesOfABackend {
            val shown = open("shown.nova", "text\n")
            val answer = ask("shown.nova")
            analyze(shown)
            write("hidden.nova", "text\n")
            for (file in listOf(answer.file(), find("hidden.nova"))) {
                assertEquals("another process analyzes this file, and only while its tab is visible", file.incomplete)
            }
        }

    fun `test several files are answered at once, a thousand problems too`() {
        write("many.xml", "<a>\n${"<b>\n".repeat(1_000)}</a>\n")
        write("good.json", "{}\n")
        val answer = ask("many.xml", "good.json")
        val (many, good) = answer.files()
        assertEquals(listOf(path("many.xml"), path("good.json")), listOf(many.path, good.path))
        assertTrue("${many.diagnostics.size}", many.diagnostics.size >= 1_000)
        assertEquals(emptyList<Diagnostic>(), good.diagnostics)
    }

    private fun path(name: String) = File(root, name).path

    private fun write(name: String, text: String): File = File(root, name).also { it.writeText(text) }

    private fun open(name: String, text: String): VirtualFile {
        val file = checkNotNull(LocalFileSystem.getInstance().refreshAndFindFileByIoFile(write(name, text)))
        myManager.openFile(file, true)
        return file
    }

    private fun document(file: VirtualFile) = checkNotNull(FileDocumentManager.getInstance().getDocument(file))

    /** Analyzes a file as the daemon does outside of tests. */
    private fun analyze(file: VirtualFile) {
        PsiDocumentManager.getInstance(project).commitAllDocuments()
        val editor = myManager.getEditors(file).filterIsInstance<TextEditor>().single().editor
        val psi = checkNotNull(PsiManager.getInstance(project).findFile(file))
        CodeInsightTestFixtureImpl.instantiateAndRun(psi, editor, ArrayUtil.EMPTY_INT_ARRAY, true)
    }

    private fun ask(vararg names: String, severity: Severity = Severity.INFORMATION): Answered =
        Answered().also { service.find(it, DiagnosticsRequest(names.map(::path), severity)) }

    private fun Answered.files(): List<FileDiagnostics> {
        dispatchUntil(10, "an answer") { files != null }
        return checkNotNull(files)
    }

    private fun Answered.file() = files().single()

    private fun find(name: String, severity: Severity = Severity.INFORMATION) = ask(name, severity = severity).file()

    private fun FileDiagnostics.lines(): List<String> =
        diagnostics.map { problem ->
            val origin = listOfNotNull(problem.source, problem.code).joinToString(" ")
            val start = problem.range.start
            "${start.line}:${start.character} ${problem.severity.name.lowercase()}: ${problem.message} [$origin]"
        }
}
