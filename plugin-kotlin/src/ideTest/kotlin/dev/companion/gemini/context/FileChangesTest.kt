// Tests files that are renamed, moved and deleted.

package dev.companion.gemini.context

import com.intellij.openapi.vfs.VfsUtilCore
import com.intellij.openapi.vfs.VirtualFile

class FileChangesTest : ContextTestCase() {
    /** Moves a file, or a folder above it, and its caret after that. */
    private fun assertMoved(path: String, expected: String, newPath: String, move: (VirtualFile) -> Unit) {
        val file = file(path, "text")
        val editor = edit(file)
        forget()
        write { move(file) }
        assertEquals(expected, calls.first())
        forget()
        editor.caretModel.moveToOffset(2)
        settle()
        assertEquals(listOf("cursor $newPath 1 3", "selection $newPath ''"), calls)
        forget()
        close(file)
        assertEquals(listOf("closed $newPath"), calls)
    }

    fun `test a renamed or moved file or directory is reported, and its caret under the new name`() {
        start()
        assertMoved("dir/a.txt", "renamed dir/a.txt dir/b.txt", "dir/b.txt") { it.rename(this, "b.txt") }
        assertMoved("old/sub/a.txt", "renamed old other", "other/sub/a.txt") { it.parent.parent.rename(this, "other") }
        val target = file("target/b.txt").parent
        assertMoved("one/a.txt", "renamed one/a.txt target/a.txt", "target/a.txt") { it.move(this, target) }
        assertMoved("two/sub/a.txt", "renamed two/sub target/sub", "target/sub/a.txt") { it.parent.move(this, target) }
    }

    fun `test a file that becomes of another type stays open under its new name`() {
        start()
        val a = file("a.txt", "<a/>")
        show(a)
        forget()
        write { a.rename(this, "a.xml") }
        assertContainsElements(calls, "renamed a.txt a.xml")
        assertDoesntContain(calls, "closed a.xml")
    }

    fun `test a name that has the new name in it is reported whole`() {
        start()
        val a = file("txt/a.txt")
        write { a.rename(this, "txt") }
        assertEquals(listOf("renamed txt/a.txt txt/txt"), calls)
    }

    fun `test a deleted file or directory is reported, also if another program deletes it`() {
        val deletions = mapOf<String, (VirtualFile) -> Unit>(
            "dir/sub/a.txt" to { a -> write { a.delete(this) } },
            "dir" to { a -> write { a.parent.parent.delete(this) } },
            "dir/sub" to { a ->
                check(VfsUtilCore.virtualToIoFile(a.parent).deleteRecursively())
                refresh(a.parent)
            },
        )
        start()
        for ((deleted, delete) in deletions) {
            val a = file("dir/sub/a.txt", "text")
            show(a)
            forget()
            delete(a)
            assertEquals(listOf("deleted $deleted"), calls)
            forget()
            // In a window the platform closes the tab.
            close(a)
            assertEquals("under its last name", listOf("closed dir/sub/a.txt"), calls)
        }
    }

    fun `test that a file becomes read-only is no news`() {
        start()
        val a = file("a.txt")
        write { a.isWritable = false }
        write { a.isWritable = true }
        assertEmpty(calls)
    }
}
