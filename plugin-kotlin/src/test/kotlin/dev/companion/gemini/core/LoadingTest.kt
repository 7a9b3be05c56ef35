// Tests that only a matching library is loaded, and that it is unloaded with the plugin.

package dev.companion.gemini.core

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.lang.ref.WeakReference
import java.net.URLClassLoader
import java.nio.file.AccessDeniedException
import java.nio.file.Files
import java.nio.file.Path
import java.util.function.Function

class LoadingTest {
    @TempDir
    lateinit var root: Path

    /** Returns the library in the folder of another copy of the plugin. */
    private fun library(): Path {
        val name = Path.of("native", folder(), System.mapLibraryName("companion_jni"))
        return root.resolve(name).also { Files.createDirectories(it.parent) }
    }

    private fun copyLibrary() = Files.copy(pluginDirectory.resolve(root.relativize(library())), library())

    private fun folder() =
        requireNotNull(NativeLibrary.folderName(System.getProperty("os.name"), System.getProperty("os.arch")))

    /** Returns the error message of loading the plugin in [root]. */
    private fun failure(): String {
        // Another class loader's class with the same name throws it.
        val thrown = assertThrows(RuntimeException::class.java) { PluginLoader().newServer().apply(root) }
        assertEquals(NativeLibraryException::class.java.name, thrown.javaClass.name)
        return thrown.message.orEmpty()
    }

    @Test
    fun `loading twice is fine`() {
        NativeLibrary.load(pluginDirectory)
        NativeLibrary.load(pluginDirectory)
        NativeLibrary.check(NativeCore.abiVersion())
    }

    @Test
    fun `a library of another version is refused`() {
        NativeLibrary.load(pluginDirectory)
        val other = NativeCore.abiVersion() + 1
        val thrown = assertThrows(NativeLibraryException::class.java) { NativeLibrary.check(other) }
        assertEquals(
            "The library is of version $other, the plugin needs ${other - 1}.",
            thrown.message,
        )
        assertTrue(thrown.restart)
    }

    @Test
    fun `a library that another class loader has still loaded asks for a restart`() {
        NativeLibrary.load(pluginDirectory)
        val thrown = assertThrows(RuntimeException::class.java) { PluginLoader().newServer().apply(pluginDirectory) }
        val restart = thrown.javaClass.getMethod("getRestart").invoke(thrown)
        assertEquals(true, restart, thrown.message)
    }

    @Test
    fun `a missing library is named`() = assertEquals("The plugin has no library for ${folder()}.", failure())

    @Test
    fun `a library that can't be loaded is named`() {
        Files.writeString(library(), "no library")
        val message = failure()
        assertTrue(message.startsWith("The library for ${folder()} could not be loaded: "), message)
    }

    @Test
    fun `systems have folders`() {
        val expected = mapOf(
            ("Linux" to "amd64") to "linux-x64",
            ("Linux" to "aarch64") to "linux-arm64",
            ("Mac OS X" to "x86_64") to "macos-x64",
            ("Mac OS X" to "aarch64") to "macos-arm64",
            ("Windows 11" to "amd64") to "windows-x64",
            ("Windows 11" to "aarch64") to "windows-arm64",
            ("Linux" to "riscv64") to null,
            ("SunOS" to "amd64") to null,
        )
        assertEquals(
            expected,
            expected.mapValues { (system, _) ->
                NativeLibrary.folderName(system.first, system.second)
            },
        )
    }

    @Test
    fun `the plugin's class loader is collected after stop, and the library can be loaded anew`() {
        copyLibrary()
        val deadline = System.nanoTime() + WAIT_SECONDS * 1_000_000_000
        repeat(2) {
            val loader = eventually(deadline) { useAndStop(root) }
            while (loader.get() != null) {
                assertTrue(System.nanoTime() < deadline, "the class loader is still there")
                System.gc()
            }
        }
        // Windows does not delete a loaded library.
        eventually(deadline) { Files.delete(library()) }
    }

    /** The JVM unloads a library a moment after its class loader, on a separate thread. */
    private fun <T> eventually(deadline: Long, action: () -> T): T {
        while (true) {
            try {
                return action()
            } catch (e: Exception) {
                val isLoaded = e is AccessDeniedException || "already loaded in another" in e.message.orEmpty()
                if (!isLoaded || System.nanoTime() > deadline) throw e
                Thread.onSpinWait()
            }
        }
    }
}

/** Loads the plugin in [folder], uses a server, stops it after [beforeStop], and drops all references. */
internal fun useAndStop(folder: Path, beforeStop: () -> Unit = {}): WeakReference<ClassLoader> {
    val loader = PluginLoader()
    val server = loader.newServer()
    val (port, token) = server.apply(folder)
    val cli = Cli(port.toInt(), token)
    // One call succeeds and one throws, because either might leave references.
    cli.openDiff(folder.resolve("a.txt").toString(), "text").get()
    cli.openDiff(folder.resolve("a.txt").toString(), "throw").get()
    beforeStop()
    (server as AutoCloseable).close()
    return WeakReference(loader)
}

/** Loads its own copy of the plugin's classes, like each installed plugin. */
private class PluginLoader :
    URLClassLoader(
        listOf(NativeLibrary::class.java, LoadingTest::class.java)
            .map { it.protectionDomain.codeSource.location }
            .toTypedArray(),
        LoadingTest::class.java.classLoader,
    ) {
    override fun loadClass(name: String, resolve: Boolean): Class<*> {
        if (!name.startsWith("dev.companion.gemini.")) return super.loadClass(name, resolve)
        synchronized(getClassLoadingLock(name)) { return findLoadedClass(name) ?: findClass(name) }
    }

    @Suppress("UNCHECKED_CAST")
    fun newServer() =
        loadClass(IsolatedServer::class.java.name, true)
            .getConstructor()
            .newInstance() as Function<Path, List<String>>
}

/** A server in another class loader, used through types that all class loaders share. */
class IsolatedServer :
    ImmediateEditor(),
    Function<Path, List<String>>,
    AutoCloseable {
    private var core: CompanionCore? = null

    /** Starts the server with the library of the plugin in [folder]. Returns its port and token. */
    override fun apply(folder: Path): List<String> {
        NativeLibrary.load(folder)
        val core = NativeCompanionCore.start(Window.settings(folder), this) { _, _ -> }
        this.core = core
        return listOf(core.status.port.toString(), core.token)
    }

    override fun receive(core: CompanionCore, message: EditorMessage) {
        if (message is EditorMessage.Open) check(message.diff.newContent != "throw")
        super.receive(core, message)
    }

    override fun close() {
        core?.close()
    }
}
