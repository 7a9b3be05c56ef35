// Tests the times of files, also on file systems that have few of them.

package dev.companion.gemini.disk

import com.intellij.openapi.util.io.FileUtil
import junit.framework.TestCase
import java.lang.reflect.Proxy
import java.nio.file.FileSystem
import java.nio.file.LinkOption
import java.nio.file.Path
import java.nio.file.attribute.BasicFileAttributes
import java.nio.file.spi.FileSystemProvider
import java.util.concurrent.Callable
import java.util.concurrent.ForkJoinPool

class FileTimesTest : TestCase() {
    private val file = FileUtil.createTempFile("times", null).toPath()

    private fun <T> offEdt(work: () -> T): T = ForkJoinPool.commonPool().submit(Callable { work() }).get()

    /** A path of a file system whose attributes by name are [attributes]. */
    private fun remote(attributes: () -> Map<String, Any>): Path {
        val provider = RemoteProvider(file.fileSystem.provider(), file, attributes)
        val system = RemoteSystem(file.fileSystem, provider)
        val path = Proxy.newProxyInstance(javaClass.classLoader, arrayOf(Path::class.java)) { _, method, _ ->
            if (method.name == "getFileSystem") system else error(method.name)
        }
        return path as Path
    }

    fun testAnUnpackedFileHasTheTimeOfItsEntry() {
        val before = System.currentTimeMillis() - 2_000
        file.toFile().setLastModified(1_000)
        assertTrue(checkNotNull(offEdt { FileTimes.lastChange(file) }) > before)
        assertEquals(1_000L, offEdt { FileTimes.lastModified(file) })
    }

    fun testAFileSystemWithoutViewsHasTheTimeOfTheContent() {
        file.toFile().setLastModified(1_000)
        for (failure in listOf(UnsupportedOperationException(), IllegalArgumentException(), NotImplementedError())) {
            assertEquals(1_000L, offEdt { FileTimes.lastChange(remote { throw failure }) })
        }
        assertEquals("views without times", 1_000L, offEdt { FileTimes.lastChange(remote { emptyMap() }) })
    }
}

/** Delegates to the local file system, except for attributes by name. */
private class RemoteSystem(
    private val local: FileSystem,
    private val provider: FileSystemProvider,
) : FileSystem() {
    override fun provider() = provider

    override fun close() = Unit

    override fun isOpen() = true

    override fun isReadOnly() = false

    override fun getSeparator(): String = local.separator

    override fun getRootDirectories(): Iterable<Path> = local.rootDirectories

    override fun getFileStores() = local.fileStores

    override fun supportedFileAttributeViews() = setOf("basic")

    override fun getPath(first: String, vararg more: String): Path = local.getPath(first, *more)

    override fun getPathMatcher(syntax: String) = local.getPathMatcher(syntax)

    override fun getUserPrincipalLookupService() = local.userPrincipalLookupService

    override fun newWatchService() = local.newWatchService()
}

private class RemoteProvider(
    private val local: FileSystemProvider,
    private val file: Path,
    private val attributes: () -> Map<String, Any>,
) : FileSystemProvider() {
    private fun fail() = UnsupportedOperationException()

    override fun readAttributes(path: Path, attributes: String, vararg options: LinkOption): Map<String, Any> =
        this.attributes()

    override fun <A : BasicFileAttributes> readAttributes(path: Path, type: Class<A>, vararg options: LinkOption): A =
        local.readAttributes(file, type, *options)

    override fun setAttribute(path: Path, attribute: String, value: Any, vararg options: LinkOption) = throw fail()

    override fun getScheme() = "remote"

    override fun newFileSystem(uri: java.net.URI, env: Map<String, *>) = throw fail()

    override fun getFileSystem(uri: java.net.URI) = throw fail()

    override fun getPath(uri: java.net.URI) = throw fail()

    override fun newByteChannel(
        path: Path,
        options: Set<java.nio.file.OpenOption>,
        vararg attrs: java.nio.file.attribute.FileAttribute<*>,
    ) = throw fail()

    override fun newDirectoryStream(dir: Path, filter: java.nio.file.DirectoryStream.Filter<in Path>) = throw fail()

    override fun createDirectory(dir: Path, vararg attrs: java.nio.file.attribute.FileAttribute<*>) = throw fail()

    override fun delete(path: Path) = throw fail()

    override fun copy(source: Path, target: Path, vararg options: java.nio.file.CopyOption) = throw fail()

    override fun move(source: Path, target: Path, vararg options: java.nio.file.CopyOption) = throw fail()

    override fun isSameFile(path: Path, path2: Path) = path == path2

    override fun isHidden(path: Path) = false

    override fun getFileStore(path: Path) = throw fail()

    override fun checkAccess(path: Path, vararg modes: java.nio.file.AccessMode) = Unit

    override fun <V : java.nio.file.attribute.FileAttributeView> getFileAttributeView(
        path: Path,
        type: Class<V>,
        vararg options: LinkOption,
    ): V? = null
}
