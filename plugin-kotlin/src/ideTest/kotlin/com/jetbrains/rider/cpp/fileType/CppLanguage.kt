// Stands in for a language of CLion Nova. Another process analyzes its files.

package com.jetbrains.rider.cpp.fileType

import com.intellij.lang.Language
import com.intellij.openapi.fileTypes.LanguageFileType

object CppLanguage : Language("Nova")

object CppFileType : LanguageFileType(CppLanguage) {
    override fun getName() = "Nova"

    override fun getDescription() = "Nova"

    override fun getDefaultExtension() = "nova"

    override fun getIcon() = null
}
