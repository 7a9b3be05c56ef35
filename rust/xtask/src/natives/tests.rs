//! Tests made-up libraries for every system, which Rust's own linker creates.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::Command;

use object::write::{Object, StandardSection, Symbol, SymbolSection};
use object::{Endianness, SymbolFlags, SymbolKind, SymbolScope};
use tempfile::TempDir;

use super::*;

/// Links a library with these natives and this number.
fn link(home: &Path, system: System, natives: &BTreeSet<String>, abi: i32) {
    let (format, architecture) = (format(system), architecture(system));
    let mut object = Object::new(
        if format == BinaryFormat::Pe { BinaryFormat::Coff } else { format },
        architecture,
        Endianness::Little,
    );
    let data = object.section_id(StandardSection::ReadOnlyData);
    object.append_section_data(data, &[ABI_NAME, &abi.to_le_bytes()].concat(), 8);
    let text = object.section_id(StandardSection::Text);
    for native in natives {
        let symbol = object.add_symbol(Symbol {
            name: format!("{NATIVE_PREFIX}{native}").into_bytes(),
            value: 0,
            size: 0,
            kind: SymbolKind::Text,
            scope: SymbolScope::Dynamic,
            weak: false,
            section: SymbolSection::Undefined,
            flags: SymbolFlags::None,
        });
        object.add_symbol_data(symbol, text, &[0; 16], 16);
    }
    let folder = home.join(system.to_string());
    fs::create_dir_all(&folder).unwrap();
    let input = home.join("input.o");
    fs::write(&input, object.write().unwrap()).unwrap();
    let mut linker = Command::new(linker());
    match format {
        BinaryFormat::Elf => {
            linker.args(["-flavor", "gnu", "-shared", "-o"]).arg(folder.join(system.library()))
        }
        BinaryFormat::MachO => {
            let arch = if architecture == Architecture::X86_64 { "x86_64" } else { "arm64" };
            linker.args(["-flavor", "darwin", "-dylib", "-platform_version", "macos", "11", "11"]);
            linker.args(["-arch", arch, "-o"]).arg(folder.join(system.library()))
        }
        _ => {
            let machine = if architecture == Architecture::X86_64 { "x64" } else { "arm64" };
            linker.args([
                "-flavor",
                "link",
                "/dll",
                "/noentry",
                "/noimplib",
                &format!("/machine:{machine}"),
            ]);
            linker.args(natives.iter().map(|native| format!("/export:{NATIVE_PREFIX}{native}")));
            linker.arg(format!("/out:{}", folder.join(system.library()).display()))
        }
    };
    let output = linker.arg(&input).output().unwrap();
    assert!(output.status.success(), "{system}: {}", String::from_utf8_lossy(&output.stderr));
    fs::remove_file(input).unwrap();
}

fn linker() -> std::path::PathBuf {
    let rustc = |arguments: &[&str]| {
        let output = Command::new("rustc").args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let version = rustc(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let sysroot = rustc(&["--print", "sysroot"]);
    Path::new(sysroot.trim()).join("lib/rustlib").join(host).join("bin/rust-lld")
}

fn natives() -> BTreeSet<String> {
    declared().unwrap()
}

fn problem(home: &Path) -> String {
    check(home).unwrap_err().to_string()
}

#[test]
fn libraries_that_fit_are_fine_and_the_others_are_named() {
    let home = TempDir::new().unwrap();
    assert!(natives().contains("stop__J"));
    let all = System::value_variants();
    for (index, &system) in all.iter().enumerate() {
        link(home.path(), system, &natives(), wanted_abi().unwrap());
        let missing: Vec<_> = all[index + 1..].iter().map(ToString::to_string).collect();
        assert_eq!(check(home.path()).unwrap(), missing);
    }
}

#[test]
fn a_library_of_another_version_is_refused() {
    let (system, abi) = (System::LinuxX64, wanted_abi().unwrap());
    let home = TempDir::new().unwrap();
    link(home.path(), system, &natives(), abi + 1);
    assert!(problem(home.path()).contains(&format!("ABI number is [{}]", abi + 1)));

    let mut older = natives();
    older.remove("stop__J");
    link(home.path(), system, &older, abi);
    assert!(problem(home.path()).contains(r#"natives missing: ["stop__J"], not declared: []"#));

    let mut newer = natives();
    newer.insert("port__I".to_owned());
    link(home.path(), system, &newer, abi);
    assert!(problem(home.path()).contains(r#"natives missing: [], not declared: ["port__I"]"#));
}

#[test]
fn what_lies_in_the_wrong_place_is_refused() {
    let home = TempDir::new().unwrap();
    let all = System::value_variants();
    for (&one, &other) in all.iter().zip(all.iter().cycle().skip(1)) {
        link(home.path(), one, &natives(), wanted_abi().unwrap());
        let [from, to] = [one, other].map(|system| home.path().join(system.to_string()));
        fs::create_dir(&to).unwrap();
        fs::rename(from.join(one.library()), to.join(other.library())).unwrap();
        fs::remove_dir(from).unwrap();
        assert!(problem(home.path()).contains("not a library of this system"));
        fs::remove_dir_all(to).unwrap();
    }
    assert!(problem(home.path()).contains("no library at all"));
    fs::create_dir(home.path().join("linux-x86")).unwrap();
    assert!(problem(home.path()).contains("linux-x86: no such system"));
}
