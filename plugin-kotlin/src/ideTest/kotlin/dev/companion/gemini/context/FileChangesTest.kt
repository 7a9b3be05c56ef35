// Tests files that are renamed, moved and deleted.

package dev.companion.gemini.context

import com.intellij.openapi.vfs.VfsUtilCore

class FileChangesTest : ContextTestCase() {
    fun `test a renamed file is reported, and its caret under the new name`() {
        start()
        val a = file("dir/a.txt", "text")
        val editor = edit(a)
        forget()
        write { a.rename(this, "b.txt") }
        assertEquals("renamed dir/a.txt dir/b.txt", calls.first())
        forget()
        editor.caretModel.moveToOffset(2)
        settle()
        assertEquals(listOf("cursor dir/b.txt 1 3", "selection dir/b.txt ''"), calls)
        forget()
        close(a)
        assertEquals(listOf("closed dir/b.txt"), calls)
    }

    fun `test a renamed directory is reported, and the caret in it under the new name`() {
        start()
        val a = file("dir/sub/a.txt", "text")
        val editor = edit(a)
        forget()
        write { a.parent.parent.rename(this, "other") }
        assertEquals(listOf("renamed dir other"), calls)
        forget()
        editor.caretModel.moveToOffset(2)
        settle()
        assertEquals(listOf("cursor other/sub/a.txt 1 3", "selection other/sub/a.txt ''"), calls)
    }

    fun `test a moved file is reported, and its caret under the new name`() {
        start()
        val a = file("dir/a.txt", "text")
        val target = file("target/b.txt").parent
        val editor = edit(a)
        forget()
        write { a.move(this, target) }
        assertEquals(listOf("renamed dir/a.txt target/a.txt"), calls)
        forget()
        editor.caretModel.moveToOffset(2)
        settle()
        assertEquals(listOf("cursor target/a.txt 1 3", "selection target/a.txt ''"), calls)
    }

    fun `test a moved directory is reported, and the caret in it under the new name`() {
        start()
        val a = file("dir/sub/a.txt", "text")
        val target = file("target/b.txt").parent
        val editor = edit(a)
        forget()
        write { a.parent.move(this, target) }
        assertEquals(listOf("renamed dir/sub target/sub"), calls)
        forget()
        editor.caretModel.moveToOffset(2)
        settle()
        assertEquals(listOf("cursor target/sub/a.txt 1 3", "selection target/sub/a.txt ''"), calls)
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

    fun `test a deleted file is reported, under its last name`() {
        start()
        val a = file("dir/a.txt", "text")
        show(a)
        forget()
        write { a.delete(this) }
        assertEquals(listOf("deleted dir/a.txt"), calls)
        forget()
        // In a window the platform closes the tab.
        close(a)
        assertEquals(listOf("closed dir/a.txt"), calls)
    }

    fun `test a deleted directory is reported`() {
        start()
        val a = file("dir/sub/a.txt", "text")
        show(a)
        forget()
        write { a.parent.parent.delete(this) }
        assertEquals(listOf("deleted dir"), calls)
    }

    fun `test files that another program deletes are reported`() {
        start()
        val a = file("dir/sub/a.txt", "text")
        val directory = a.parent.parent
        show(a)
        forget()
        check(VfsUtilCore.virtualToIoFile(directory).deleteRecursively())
        refresh(directory)
        assertEquals(listOf("deleted dir"), calls)
    }

    fun `test that a file becomes read-only is no news`() {
        start()
        val a = file("a.txt")
        write { a.isWritable = false }
        write { a.isWritable = true }
        assertEmpty(calls)
    }
}
