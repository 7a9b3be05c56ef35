// The release build of the plugin; what it is made of says plugin-kotlin/build.gradle.kts.

rootProject.name = "companion-for-gemini-cli"

include("plugin-kotlin")
