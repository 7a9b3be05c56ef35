// platform/platform-impl/src/com/intellij/ide/impl/TrustedProjects.kt, 2021.3

@file:JvmName("TrustedProjects")

package com.intellij.ide.impl

import com.intellij.openapi.project.Project

@Deprecated("since 2025.1")
external fun Project.isTrusted(): Boolean
