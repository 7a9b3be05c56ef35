// Collects the settings of a server from the project and from the user.

package dev.companion.gemini.project

import com.intellij.openapi.application.ApplicationInfo
import com.intellij.openapi.application.ApplicationNamesInfo
import com.intellij.openapi.project.Project
import dev.companion.gemini.core.ServerSettings
import dev.companion.gemini.core.assertNotEdt
import dev.companion.gemini.disk.OpenedPath
import dev.companion.gemini.platform.Platform
import dev.companion.gemini.platform.ifOpen
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
        val config = project.ifOpen { configured(project, settings) } ?: return null
        return config.copy(workspace = config.workspace.filter { Files.isDirectory(Paths.get(it)) })
    }

    /** Returns the settings with the roots of the project and its modules on local disks. Runs in a read action. */
    private fun configured(project: Project, settings: CompanionSettings.Values): ServerSettings =
        settings.server().copy(
            workspace = OpenedPath.roots(project).map(Path::toString),
            ideName = ideName(ApplicationInfo.getInstance().build.productCode),
            ideDisplayName = ApplicationNamesInfo.getInstance().fullProductName,
            trusted = trusted(settings.trust, Platform.isTrusted(project)),
            shareContext = !ProjectSetting.HIDE_CONTEXT.isOn(project),
            reviewAll = ProjectSetting.REVIEW_ALL.isOn(project),
            resume = true,
            keepProposals = true,
        )

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
