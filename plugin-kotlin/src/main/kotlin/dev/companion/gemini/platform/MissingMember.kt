// Names a class or member that the running IDE lacks.

package dev.companion.gemini.platform

import com.intellij.openapi.application.ApplicationInfo
import dev.companion.gemini.CompanionBundle

/** For the user. A plugin is compiled against one platform and runs on many. Any thread. */
internal val LinkageError.explanation: String
    get() {
        val build = ApplicationInfo.getInstance().build.asString()
        return CompanionBundle.message("platform.missing", build, message ?: javaClass.simpleName)
    }
