// Provides a project and its server for tests.

package dev.companion.gemini.project

import com.intellij.openapi.util.Disposer
import com.intellij.testFramework.PlatformTestCase
import com.intellij.util.ui.UIUtil
import dev.companion.gemini.core.CompanionCore
import dev.companion.gemini.core.EditorHost
import dev.companion.gemini.core.ServerSettings
import dev.companion.gemini.dispatchUntil
import org.picocontainer.MutablePicoContainer

abstract class ServiceTestCase : PlatformTestCase() {
    private val settings get() = CompanionSettings.getInstance()

    override fun tearDown() {
        try {
            settings.set(CompanionSettings.Values())
        } finally {
            super.tearDown()
        }
    }

    protected fun set(change: CompanionSettings.Values.() -> Unit) = settings.set(settings.values.copy().apply(change))

    /** Replaces the project's service by one that starts servers with [launch]. */
    protected fun serviceWith(launch: (ServerSettings, EditorHost) -> CompanionCore): CompanionService {
        val service = object : CompanionService(project, launch) {}
        Disposer.register(project, service)
        val container = project.picoContainer as MutablePicoContainer
        val key = CompanionService::class.java.name
        container.unregisterComponent(key)
        container.registerComponentInstance(key, service)
        return service
    }

    /** Runs the IDE's events until [expected] holds. */
    protected fun await(expected: () -> Boolean) {
        dispatchUntil(20, "what the test expects", expected)
        UIUtil.dispatchAllInvocationEvents()
    }
}
