// Connects the robot to the script: commands on stdin, one per line, and answers on stdout.

package dev.companion.gemini.robot

import com.google.gson.Gson
import com.google.gson.GsonBuilder
import com.google.gson.JsonObject
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.ModalityState
import com.intellij.openapi.project.DumbService
import com.intellij.openapi.project.Project
import java.io.FileDescriptor
import java.io.FileOutputStream
import java.io.PrintStream
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.concurrent.thread

/**
 * Executes commands. A command is `{id, do, …}`, the answer is `{id, value}` or `{id, error}`. Commands that only read
 * are executed at once, even while a dialog is open. Other commands wait for their turn, like a user.
 */
internal object Robot {
    private val isStarted = AtomicBoolean()
    private val gson: Gson = GsonBuilder().serializeNulls().create()

    /** Does not use System.out, which others use and may replace. */
    private val out = PrintStream(FileOutputStream(FileDescriptor.out), true, "UTF-8")

    /** Starts with the first project, and reports each project whose indexes are ready. */
    fun projectOpened(project: Project) {
        start()
        DumbService.getInstance(project).runWhenSmart {
            say(mapOf("event" to "opened", "project" to project.basePath))
        }
    }

    private fun start() {
        if (!isStarted.compareAndSet(false, true)) return
        thread(name = "robot", isDaemon = true) {
            System.`in`.bufferedReader().forEachLine { obey(gson.fromJson(it, JsonObject::class.java)) }
            // The script has ended, perhaps by a kill, so the IDE must end, too.
            Runtime.getRuntime().halt(1)
        }
    }

    private fun obey(command: JsonObject) {
        val name = command.text("do")
        val query = QUERIES[name] ?: Seam.queries[name]
        val work = query ?: ACTIONS[name] ?: Seam.actions[name]
        val modality = if (query == null) ModalityState.NON_MODAL else ModalityState.any()
        ApplicationManager.getApplication().invokeLater({ answer(command, work) }, modality)
    }

    private fun answer(command: JsonObject, work: Command?) {
        val id = command["id"].asInt
        try {
            val value = requireNotNull(work) { "there is no such command" }(command)
            say(mapOf("id" to id, "value" to value.takeIf { it != Unit }))
        } catch (
            @Suppress("TooGenericExceptionCaught") e: Throwable,
        ) {
            say(mapOf("id" to id, "error" to "$command: $e"))
        }
    }

    /** Sends the script a line with a unique prefix. */
    private fun say(message: Any) = synchronized(out) { out.println("robot " + gson.toJson(message)) }
}

/** Runs on the EDT. Returns a value that JSON can represent. */
internal typealias Command = (JsonObject) -> Any?

internal fun JsonObject.text(name: String): String = requireNotNull(textOrNull(name)) { "$name is missing" }

internal fun JsonObject.textOrNull(name: String): String? = this[name]?.asString

internal fun JsonObject.number(name: String): Int = requireNotNull(this[name]) { "$name is missing" }.asInt
