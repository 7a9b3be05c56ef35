// Tests the settings that a server is started with.

package dev.companion.gemini.project

import org.junit.Assert.assertEquals
import org.junit.Test

class ProjectConfigTest {
    @Test
    fun `the CLI knows the products by these names`() {
        val codes = "IC IU PC PY WS GO AI CL RR DB PS RD"
        val names =
            "intellijidea intellijidea pycharm pycharm webstorm goland androidstudio clion rustrover datagrip " +
                "phpstorm jetbrains"
        assertEquals(names, codes.split(" ").joinToString(" ", transform = ProjectConfig::ideName))
    }

    @Test
    fun `the CLI decides about trust, unless the user does not trust the project`() {
        assertEquals(null, ProjectConfig.trusted(TrustSetting.IDE, true))
        assertEquals(false, ProjectConfig.trusted(TrustSetting.IDE, false))
        assertEquals(null, ProjectConfig.trusted(TrustSetting.IDE, null))
        assertEquals(null, ProjectConfig.trusted(TrustSetting.CLI, false))
    }
}
