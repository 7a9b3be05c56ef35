//! Checks that a plugin's libraries are the ones that its Kotlin code calls, for every system and
//! without running them.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::{env, fs};

use clap::ValueEnum;
use object::read::Object;
use object::{Architecture, BinaryFormat, ObjectKind};

use crate::Result;
use crate::dist::System;

#[cfg(test)]
mod tests;

/// The text before the ABI number in every library. `companion-jni` contains it, too.
const ABI_NAME: &[u8] = b"companion_jni ABI number";

/// The beginning of each native's export.
const NATIVE_PREFIX: &str = "Java_dev_companion_gemini_core_NativeCore_";

/// Checks each library in `native`, the folder of a plugin with `<os>-<arch>/`. A library must be
/// for that system, export exactly the natives of `NativeCore`, and have the ABI number that Kotlin
/// requires. Returns the systems without a library.
pub(crate) fn check(native: &Path) -> Result<Vec<String>> {
    let folders = fs::read_dir(native).map_err(|error| format!("{}: {error}", native.display()))?;
    let mut folders = folders
        .map(|folder| Ok(folder?.file_name()))
        .collect::<std::io::Result<BTreeSet<OsString>>>()?;
    let (natives, abi) = (declared()?, wanted_abi()?);
    let mut missing = Vec::new();
    for &system in System::value_variants() {
        let name = system.to_string();
        if !folders.remove(OsStr::new(&name)) {
            missing.push(name);
            continue;
        }
        let library = native.join(name).join(system.library());
        check_library(&library, system, &natives, abi)
            .map_err(|problem| format!("{}: {problem}", library.display()))?;
    }
    if let Some(folder) = folders.first() {
        return Err(format!("{}: no such system", native.join(folder).display()).into());
    }
    if missing.len() == System::value_variants().len() {
        return Err(format!("{}: no library at all", native.display()).into());
    }
    Ok(missing)
}

/// Returns the format and the processor of a library for that system.
fn format(system: System) -> BinaryFormat {
    if system.is_windows() {
        BinaryFormat::Pe
    } else if system.is_macos() {
        BinaryFormat::MachO
    } else {
        BinaryFormat::Elf
    }
}

fn architecture(system: System) -> Architecture {
    match system {
        System::LinuxX64 | System::MacosX64 | System::WindowsX64 => Architecture::X86_64,
        System::LinuxArm64 | System::MacosArm64 | System::WindowsArm64 => Architecture::Aarch64,
    }
}

fn check_library(library: &Path, system: System, natives: &BTreeSet<String>, abi: i32) -> Result {
    let data = fs::read(library)?;
    let file = object::File::parse(&*data)?;
    let format = format(system);
    let actual = (file.format(), file.architecture(), file.kind(), file.is_64());
    if actual != (format, architecture(system), ObjectKind::Dynamic, true) {
        return Err(format!("not a library of this system, but {actual:?}").into());
    }
    let mut exported = BTreeSet::new();
    for export in file.exports()? {
        let export = export?.into_name().into_name().unwrap_or_default();
        let name = String::from_utf8_lossy(&export);
        // Mach-O adds an underscore before each name.
        let name =
            if format == BinaryFormat::MachO { name.strip_prefix('_') } else { Some(&*name) };
        let native = name.and_then(|name| name.strip_prefix(NATIVE_PREFIX));
        exported.extend(native.map(str::to_owned));
    }
    if exported != *natives {
        let missing: Vec<_> = natives.difference(&exported).collect();
        let unknown: Vec<_> = exported.difference(natives).collect();
        return Err(format!("natives missing: {missing:?}, not declared: {unknown:?}").into());
    }
    let found = abi_numbers(&data);
    if found != [abi] {
        return Err(format!("the ABI number is {found:?}, NativeCore.kt wants {abi}").into());
    }
    Ok(())
}

/// Returns the ABI numbers in a file. All systems are little-endian.
fn abi_numbers(data: &[u8]) -> Vec<i32> {
    let length = ABI_NAME.len();
    let named = data.windows(length + 4).filter(|window| window.starts_with(ABI_NAME));
    named.filter_map(|window| Some(i32::from_le_bytes(window[length..].try_into().ok()?))).collect()
}

/// Returns the natives that `NativeCore.kt` declares, with their arguments in JNI's notation.
fn declared() -> Result<BTreeSet<String>> {
    let kotlin = kotlin("NativeCore.kt")?;
    let functions = kotlin.split("external fun ").skip(1);
    functions
        .map(|function| {
            let (name, rest) = function.split_once('(').ok_or("a native without arguments")?;
            let arguments = rest.split(')').next().unwrap_or_default().split(',');
            let types = arguments.filter_map(|argument| Some(argument.split_once(": ")?.1));
            Ok(format!("{name}__{}", types.map(jni_type).collect::<Result<String>>()?))
        })
        .collect()
}

/// Converts a Kotlin type to JNI's notation in the name of a native.
fn jni_type(kotlin: &str) -> Result<&'static str> {
    Ok(match kotlin.trim_end_matches('?') {
        "Boolean" => "Z",
        "Int" => "I",
        "Long" => "J",
        "String" => "Ljava_lang_String_2",
        "ByteArray" => "_3B",
        "Array<String>" => "_3Ljava_lang_String_2",
        "NativeCallbacks" => "Ldev_companion_gemini_core_NativeCallbacks_2",
        other => return Err(format!("say here how JNI writes {other}").into()),
    })
}

/// Returns the ABI number that `NativeCore.kt` requires.
fn wanted_abi() -> Result<i32> {
    let kotlin = kotlin("NativeCore.kt")?;
    let number =
        kotlin.split_once("const val ABI_VERSION = ").and_then(|(_, rest)| rest.lines().next());
    Ok(number.ok_or("NativeCore.kt has no ABI_VERSION")?.parse()?)
}

fn kotlin(file: &str) -> Result<String> {
    let core = "../../plugin-kotlin/src/main/kotlin/dev/companion/gemini/core";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(core).join(file);
    Ok(fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?)
}
