//! Lists the systems that have artefacts, with the names of the artefacts.

use std::fmt;

use clap::ValueEnum;

use crate::kotlin;

/// A system. Its name occurs in the plugin's folder of libraries, in the archives and in the npm
/// packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum System {
    LinuxX64,
    LinuxArm64,
    MacosX64,
    MacosArm64,
    WindowsX64,
    WindowsArm64,
}

impl System {
    /// Returns this machine's system, if it has artefacts.
    pub(crate) fn host() -> Option<Self> {
        let host = kotlin::system();
        Self::value_variants().iter().copied().find(|system| system.to_string() == host)
    }

    pub(crate) fn is_linux(self) -> bool {
        matches!(self, Self::LinuxX64 | Self::LinuxArm64)
    }

    pub(crate) fn is_macos(self) -> bool {
        matches!(self, Self::MacosX64 | Self::MacosArm64)
    }

    pub(crate) fn is_windows(self) -> bool {
        matches!(self, Self::WindowsX64 | Self::WindowsArm64)
    }

    /// Returns the target of the program. On Linux it is static, and runs with any C library or
    /// none.
    pub(crate) fn program_target(self) -> &'static str {
        match self {
            Self::LinuxX64 => "x86_64-unknown-linux-musl",
            Self::LinuxArm64 => "aarch64-unknown-linux-musl",
            other => other.library_target(),
        }
    }

    /// Returns the target of the library. On Linux it shares glibc with the JVM that loads it.
    pub(crate) fn library_target(self) -> &'static str {
        match self {
            Self::LinuxX64 => "x86_64-unknown-linux-gnu",
            Self::LinuxArm64 => "aarch64-unknown-linux-gnu",
            Self::MacosX64 => "x86_64-apple-darwin",
            Self::MacosArm64 => "aarch64-apple-darwin",
            Self::WindowsX64 => "x86_64-pc-windows-gnu",
            Self::WindowsArm64 => "aarch64-pc-windows-gnullvm",
        }
    }

    pub(crate) fn program(self) -> &'static str {
        if self.is_windows() { "gemini-companion.exe" } else { "gemini-companion" }
    }

    pub(crate) fn library(self) -> &'static str {
        match self {
            Self::LinuxX64 | Self::LinuxArm64 => "libcompanion_jni.so",
            Self::MacosX64 | Self::MacosArm64 => "libcompanion_jni.dylib",
            Self::WindowsX64 | Self::WindowsArm64 => "companion_jni.dll",
        }
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_possible_value().expect("no variant is skipped").get_name())
    }
}
