// Collects the settings of a server from the project and from the user.

package dev.companion.gemini.project

import com.intellij.openapi.application.ApplicationInfo
import com.intellij.openapi.application.ApplicationManager
import com.intellij.openapi.application.ApplicationNamesInfo
import com.intellij.openapi.project.Project
import com.intellij.openapi.roots.ProjectRootManager
import com.intellij.openapi.util.Computable
import dev.companion.gemini.core.ServerSettings
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.platform.Platform
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.Paths

internal object ProjectConfig {
    /**
     * Returns the settings, or null if the settings disable the server or the project is closed. Reads the disk, so
     * don't call it on the EDT.
     */
    fun of(project: Project): ServerSettings? {
        assertNotEdt()
        val settings = CompanionSettings.getInstance().values
        if (!settings.context && !settings.review && !settings.diagnostics) return null
        val look = Computable { if (project.isDisposed) null else configured(project, settings) }
        val config = ApplicationManager.getApplication().runReadAction(look) ?: return null
        val folders = config.workspace.map { Paths.get(it) }.distinct().filter(Files::isDirectory)
        return config.copy(workspace = folders.map(Path::toString))
    }

    /** Returns the settings with the roots of the project and its modules on local disks. Runs in a read action. */
    private fun configured(project: Project, settings: CompanionSettings.Values): ServerSettings {
        val roots = ProjectRootManager.getInstance(project).contentRoots.filter { it.isInLocalFileSystem }
        return settings.server().copy(
            workspace = listOfNotNull(project.basePath) + roots.map { it.path },
            ideName = ideName(ApplicationInfo.getInstance().build.productCode),
            ideDisplayName = ApplicationNamesInfo.getInstance().fullProductName,
            trusted = trusted(settings.trust, Platform.isTrusted(project)),
            shareContext = !ProjectSetting.HIDE_CONTEXT.isOn(project),
            reviewAll = ProjectSetting.REVIEW_ALL.isOn(project),
            resume = true,
            keepProposals = true,
        )
    }

    /** Returns the CLI's internal name of a product. The CLI shows users the display name. */
    fun ideName(productCode: String): String =
        when (productCode) {
            "IC", "IU", "IE" -> "intellijidea"
            "PC", "PY", "PE" -> "pycharm"
            "WS" -> "webstorm"
            "GO" -> "goland"
            "AI" -> "androidstudio"
            "CL" -> "clion"
            "RR" -> "rustrover"
            "DB" -> "datagrip"
            "PS" -> "phpstorm"
            else -> "jetbrains"
        }

    /**
     * Returns false if the CLI has to stay restricted; null leaves that to the CLI. It is never true: then Gemini CLI
     * would not ask about a folder that it does not know, and would stay restricted there (`config.js`, `trustedFolder`).
     */
    fun trusted(setting: TrustSetting, trusted: Boolean?): Boolean? =
        trusted.takeIf { setting == TrustSetting.IDE && it == false }
}
