// Builds the plugin as it is released, for 2024.2 and newer:
//
//     ./gradlew buildPlugin           the zip, in target/gradle/distributions; prints the missing libraries
//     ./gradlew runIde                an IDE with the plugin
//     ./gradlew check                 the tests of the boundary to Rust; the others run in the build of pom.xml
//     ./gradlew verifyPlugin          JetBrains' verifier, against the IDEs that it recommends, some eight; against others
//                                     with -Pcompanion.verify.ides=HOME,HOME
//     ./gradlew signPlugin            CERTIFICATE_CHAIN, PRIVATE_KEY and PRIVATE_KEY_PASSWORD are in the environment
//     ./gradlew publishPlugin         signs it; needs PUBLISH_TOKEN as well, and for the Marketplace:
//                                     -Pcompanion.vendor.url=URL -Pcompanion.vendor.email=MAIL
//
// The Marketplace (plugins.jetbrains.com/legal/approval-guidelines, 1.2 of 2023-08-22; 1.0 names the vendor's page, the
// mail and the change notes): a name of at most 30 characters that is unique, without "plugin" and without trademarks
// that nobody has allowed; a description in English; change notes that are not the template's;
// a page and a mail of the vendor's that are reached.
//
// With -Pcompanion.issues=URL reports of errors open that page, for a new issue: it takes ?title= and body=, as GitHub's.
// With -Pcompanion.natives=DIR the zip has the libraries of all systems, which `cargo xtask dist` has built, from
// DIR/<os>-<arch>/, in place of one that is built for this machine. None is signed or published that lacks one.

import org.jetbrains.intellij.platform.gradle.tasks.PrepareSandboxTask
import org.jetbrains.intellij.platform.gradle.tasks.VerifyPluginTask.FailureLevel
import org.jetbrains.kotlin.gradle.dsl.JvmDefaultMode
import org.jetbrains.kotlin.gradle.dsl.KotlinVersion
import org.jetbrains.kotlin.gradle.tasks.KotlinCompile

plugins {
    alias(libs.plugins.kotlin.jvm)
    alias(libs.plugins.intellij.platform)
    alias(libs.plugins.changelog)
}

val checkout = rootProject.layout.projectDirectory
layout.buildDirectory = checkout.dir("target/gradle")

repositories {
    mavenCentral()
    intellijPlatform {
        defaultRepositories()
    }
}

// Tests of the boundary run in a JVM of their own: the task `test` is the IDE's.
val jniTests: SourceSet = sourceSets.create("jniTest")

kotlin {
    // Warnings are errors in the build of pom.xml. Here they show deprecations of newer platforms.
    jvmToolchain(21)
    sourceSets.named("main") { kotlin.srcDir("src/current/kotlin") }
    sourceSets.named("test") { kotlin.setSrcDirs(emptyList<String>()) }
    sourceSets.named("jniTest") { kotlin.setSrcDirs(listOf("src/test/kotlin")) }
    target.compilations.named("jniTest") { associateWith(target.compilations.getByName("main")) }
}

sourceSets.named("main") { resources.srcDir("src/current/resources") }

tasks.named<KotlinCompile>("compileKotlin") {
    compilerOptions {
        // The library that 2024.2 brings is Kotlin 1.9's.
        apiVersion = KotlinVersion.KOTLIN_1_9
        // Unasserted conditions are not evaluated.
        freeCompilerArgs.add("-Xassertions=jvm")
        // A class would override every default member of a platform interface, even internal ones.
        jvmDefault = JvmDefaultMode.NO_COMPATIBILITY
    }
}

dependencies {
    intellijPlatform {
        intellijIdeaCommunity(libs.versions.intellij.idea)
        bundledPlugin("org.jetbrains.plugins.terminal")
    }

    "jniTestImplementation"(libs.gson)
    "jniTestImplementation"(platform(libs.junit.bom))
    "jniTestImplementation"(libs.junit.jupiter)
    "jniTestImplementation"(libs.kotlin.stdlib)
    "jniTestRuntimeOnly"(libs.junit.launcher)
}

intellijPlatform {
    projectName = rootProject.name
    instrumentCode = false
    pluginConfiguration {
        ideaVersion {
            sinceBuild = "242"
        }
        vendor {
            email = providers.gradleProperty("companion.vendor.email")
            url = providers.gradleProperty("companion.vendor.url")
        }
    }
    pluginVerification {
        // JetBrains reviews plugins, and asks for one without internal API.
        failureLevel = listOf(
            FailureLevel.COMPATIBILITY_PROBLEMS,
            FailureLevel.INTERNAL_API_USAGES,
            FailureLevel.INVALID_PLUGIN,
        )
        ides {
            val homes = providers.gradleProperty("companion.verify.ides").orNull
            homes?.split(',')?.forEach { local(file(it)) } ?: recommended()
        }
    }
}

// The plugin for IDEs makes change notes of the section of this version.
changelog {
    path = checkout.file("CHANGELOG.md").asFile.path
}

// Values that only a publisher knows.
tasks.named<ProcessResources>("processResources") {
    val issues = providers.gradleProperty("companion.issues").orElse("")
    inputs.property("issues", issues)
    filesMatching("dev/companion/gemini/publisher.properties") {
        filter { line: String -> if (line == "issues=") "issues=${issues.get()}" else line }
    }
}

tasks.named("publishPlugin") {
    val demanded = listOf("companion.vendor.url", "companion.vendor.email")
        .associateWith { providers.gradleProperty(it) }
    val changes = checkout.file("CHANGELOG.md").asFile
    val release = project.version.toString()
    doFirst {
        val headings = changes.readLines().filter { it.startsWith("## ") }
        check(headings.any { it.removePrefix("## ").removePrefix("[").startsWith(release) }) {
            "CHANGELOG.md has no section $release, of which the change notes are made."
        }
        val missing = demanded.filterValues { it.orNull.isNullOrBlank() }.keys
        check(missing.isEmpty()) { "The Marketplace demands ${missing.joinToString(" and ") { "-P$it=…" }}." }
    }
}

/** Builds the library for this machine, with these options of cargo. */
fun registerCargo(name: String, profile: String, vararg options: String): TaskProvider<Exec> =
    tasks.register<Exec>(name) {
        group = "build"
        description = "Builds the library for this machine (cargo, $profile)."
        val output = layout.buildDirectory.dir("cargo")
        workingDir(checkout)
        commandLine("cargo", "build", "--quiet", "--locked", "--package", "companion-jni", *options)
        args("--target-dir", output.get().asFile.path)
        inputs.files(
            checkout.dir("rust").asFileTree.matching { include("**/*.rs", "**/Cargo.toml") },
            checkout.files("Cargo.toml", "Cargo.lock", "rust-toolchain.toml", ".cargo/config.toml"),
        )
        outputs.file(output.map { it.file("$profile/${System.mapLibraryName("companion_jni")}") })
    }

val cargoRelease = registerCargo("cargoRelease", "release", "--release")
val cargoTest = registerCargo("cargoTest", "debug", "--features", "test-entry")

// As NativeLibrary.folderName has it.
val hostFolder = run {
    val os = providers.systemProperty("os.name").get()
    val arch = providers.systemProperty("os.arch").get()
    val family = when {
        os.startsWith("Mac") -> "macos"
        os.startsWith("Windows") -> "windows"
        else -> "linux"
    }
    family + if (arch == "aarch64" || arch == "arm64") "-arm64" else "-x64"
}

// The library lies beside lib/ in the plugin's folder, where NativeLibrary looks for it.
tasks.named<PrepareSandboxTask>("prepareSandbox") {
    val host = hostFolder
    val natives = providers.gradleProperty("companion.natives").orNull
    if (natives == null) {
        from(cargoRelease) { into(pluginName.map { "$it/native/$host" }) }
    } else {
        from(checkout.dir(natives)) { into(pluginName.map { "$it/native" }) }
    }
}

val builtLibraries = tasks.register<Sync>("builtLibraries") {
    description = "Takes the libraries out of the zip."
    from(zipTree(tasks.named<Zip>("buildPlugin").flatMap { it.archiveFile })) {
        include("*/native/**")
        includeEmptyDirs = false
        // Without the plugin's folder and native/.
        eachFile { relativePath = RelativePath(true, *relativePath.segments.drop(2).toTypedArray()) }
    }
    into(layout.buildDirectory.dir("libraries"))
}

/** Checks that each library in the zip is the one that the Kotlin calls. */
fun registerCheck(name: String, vararg options: String): TaskProvider<Exec> =
    tasks.register<Exec>(name) {
        group = "verification"
        inputs.files(builtLibraries)
        workingDir(checkout)
        commandLine("cargo", "run", "--quiet", "--locked", "--package", "xtask", "--", "check-libraries", *options)
        args(layout.buildDirectory.dir("libraries").get().asFile.path)
    }

val checkLibraries = registerCheck("checkLibraries")
val checkAllLibraries = registerCheck("checkAllLibraries", "--all")

tasks.named("buildPlugin") { finalizedBy(checkLibraries) }
tasks.named("signPlugin") { dependsOn(checkAllLibraries) }
tasks.named("publishPlugin") { dependsOn(checkAllLibraries) }

val jniTestHome: Provider<Directory> = layout.buildDirectory.dir("jni-tests")

val jniTestPlugin = tasks.register<Sync>("jniTestPlugin") {
    description = "Lays out the plugin's folder for the tests of the boundary."
    from(cargoTest)
    into(jniTestHome.get().dir("plugin/native/$hostFolder"))
}

val jniTest = tasks.register<Test>("jniTest") {
    group = "verification"
    description = "Runs the tests of the boundary to Rust, without an IDE."
    val home = jniTestHome.get().asFile
    val log = home.resolve("vm.log")
    inputs.files(jniTestPlugin)
    testClassesDirs = jniTests.output.classesDirs
    classpath = jniTests.runtimeClasspath
    useJUnitPlatform()
    systemProperty("companion.plugin.home", home.resolve("plugin").path)
    // Where servers leave their files.
    environment("TMPDIR", temporaryDir.path)
    // One test panics.
    environment("RUST_BACKTRACE", "0")
    jvmArgs("-Xcheck:jni", "-XX:+UnlockDiagnosticVMOptions", "-XX:+LogVMOutput", "-XX:-DisplayVMOutput")
    jvmArgs("-XX:LogFile=$log")
    doLast {
        check("WARNING" !in log.readText()) { "The JVM warns of a wrong use of JNI; see $log" }
    }
}

tasks.named("test") { dependsOn(jniTest) }
