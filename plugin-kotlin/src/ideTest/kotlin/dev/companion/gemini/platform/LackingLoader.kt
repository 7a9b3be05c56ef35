// Provides the plugin's classes as in an IDE that lacks a class.

package dev.companion.gemini.platform

import com.intellij.openapi.Disposable
import com.intellij.openapi.project.Project
import com.intellij.openapi.util.Disposer
import org.picocontainer.MutablePicoContainer
import kotlin.reflect.KClass

/** Loads the plugin's classes again, except those that a test shares with them. The class [missing] does not exist. */
class LackingLoader(private val missing: String) : ClassLoader(LackingLoader::class.java.classLoader) {
    override fun loadClass(name: String, resolve: Boolean): Class<*> =
        when {
            name == missing -> throw ClassNotFoundException(name)
            !name.startsWith(PLUGIN) || SHARED.any { name.startsWith(PLUGIN + it) } -> super.loadClass(name, resolve)
            else -> synchronized(getClassLoadingLock(name)) { findLoadedClass(name) ?: define(name) }
        }

    private fun define(name: String): Class<*> {
        val bytes = parent.getResourceAsStream("${name.replace('.', '/')}.class")?.use { it.readBytes() }
            ?: throw ClassNotFoundException(name)
        return defineClass(name, bytes, 0, bytes.size)
    }

    /** Creates the [project]'s service of this [type] with these [arguments], until the project ends. */
    fun install(project: Project, type: KClass<*>, vararg arguments: Any): Any {
        val name = type.java.name
        val constructor = loadClass(name).declaredConstructors.single { it.parameterCount == 1 + arguments.size }
        constructor.isAccessible = true
        val service = constructor.newInstance(project, *arguments)
        Disposer.register(project, service as Disposable)
        val container = project.picoContainer as MutablePicoContainer
        container.unregisterComponent(name)
        container.registerComponentInstance(name, service)
        return service
    }

    private companion object {
        const val PLUGIN = "dev.companion.gemini."

        /** Classes that the test shares with the IDE, and that exist once per IDE. */
        val SHARED =
            listOf(
                "core.",
                "project.CompanionSettings",
                "project.CompanionState",
                "project.TrustSetting",
                "RecordingCore",
            )
    }
}
