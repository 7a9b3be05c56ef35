// Tests that only a matching library is loaded.

package dev.companion.gemini.core

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.net.URLClassLoader
import java.nio.file.Files
import java.nio.file.Path
import java.util.function.Consumer

class LoadingTest {
    @TempDir
    lateinit var root: Path

    /** Returns the library in the folder of another copy of the plugin. */
    private fun library(): Path {
        val name = Path.of("native", folder(), System.mapLibraryName("companion_jni"))
        return root.resolve(name).also { Files.createDirectories(it.parent) }
    }

    private fun folder() =
        requireNotNull(NativeLibrary.folderName(System.getProperty("os.name"), System.getProperty("os.arch")))

    /** Returns the error message of loading the plugin in [root]. */
    private fun failure(): String {
        // Another class loader's class with the same name throws it.
        val thrown = assertThrows(RuntimeException::class.java) { PluginLoader().newLoading().accept(root) }
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
    fun `a missing library is named`() = assertEquals("The plugin has no library for ${folder()}.", failure())

    @Test
    fun `a library that can't be loaded is named`() {
        Files.writeString(library(), "no library")
        val message = failure()
        assertTrue(message.startsWith("The library for ${folder()} could not be loaded: "), message)
        assertTrue(message.endsWith("."), message)
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
}

/** Loads its own copy of the plugin's classes, because these have already loaded the library. */
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
    fun newLoading() =
        loadClass(IsolatedLoading::class.java.name, true)
            .getConstructor()
            .newInstance() as Consumer<Path>
}

/** Loads the library of a plugin in another class loader, used through types that all class loaders share. */
class IsolatedLoading : Consumer<Path> {
    override fun accept(folder: Path) = NativeLibrary.load(folder)
}
