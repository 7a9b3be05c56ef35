// Asserts the current thread.

package dev.companion.gemini.core

import java.awt.EventQueue

internal fun assertEdt() = assert(EventQueue.isDispatchThread()) { "only for the EDT" }

internal fun assertNotEdt() = assert(!EventQueue.isDispatchThread()) { "not for the EDT, as it may wait" }
