// Brings the plugins of the build, each once and in the version of gradle/libs.versions.toml.

plugins {
    alias(libs.plugins.changelog) apply false
    alias(libs.plugins.intellij.platform) apply false
    alias(libs.plugins.kotlin.jvm) apply false
}
