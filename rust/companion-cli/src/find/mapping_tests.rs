//! Tests path mapping with tables of paths in the notations of both sides.

use super::*;

fn mapping(rules: &[&str]) -> Mapping {
    Mapping(rules.iter().map(|rule| rule.parse().unwrap()).collect())
}

/// Checks that each pair maps to the other, in both directions.
fn check_both(rules: &[&str], pairs: &[(&str, &str)]) {
    let mapping = mapping(rules);
    for (client, companion) in pairs {
        assert_eq!(mapping.to_companion(client).as_deref(), Some(*companion), "{rules:?}");
        assert_eq!(mapping.to_client(companion).as_deref(), Some(*client), "{rules:?}");
    }
}

fn check_to_companion(rules: &[&str], cases: &[(&str, Option<&str>)]) {
    for (path, expected) in cases {
        assert_eq!(mapping(rules).to_companion(path).as_deref(), *expected, "{rules:?} {path}");
    }
}

fn check_to_client(rules: &[&str], cases: &[(&str, Option<&str>)]) {
    for (path, expected) in cases {
        assert_eq!(mapping(rules).to_client(path).as_deref(), *expected, "{rules:?} {path}");
    }
}

#[test]
fn container_and_host() {
    let rules =
        ["/work/app=/home/me/my app", "/work/app/vendor=/opt/vendor", "/data=/home/me/data"];
    check_both(
        &rules,
        &[
            ("/work/app", "/home/me/my app"),
            ("/work/app/", "/home/me/my app/"),
            ("/work/app/a b/é文.rs", "/home/me/my app/a b/é文.rs"),
            ("/work/app/vendor/x.c", "/opt/vendor/x.c"),
            ("/work/app/vendored/x.c", "/home/me/my app/vendored/x.c"),
            ("/data/a\\b:c", "/home/me/data/a\\b:c"),
        ],
    );
    check_to_companion(
        &rules,
        &[
            ("/work/application/x", None),
            ("/work", None),
            ("/Work/App/x", None),
            ("/home/me/my app/x", None),
            ("work/app/x", None),
            ("", None),
            ("/work/app/../../etc/passwd", None),
            ("/work/app/./x", None),
            ("/work//app/x", Some("/home/me/my app/x")),
            ("/work/app//x", Some("/home/me/my app//x")),
            ("/work/app/..x/x..", Some("/home/me/my app/..x/x..")),
        ],
    );
}

#[test]
fn the_end_of_a_prefix_may_have_a_separator() {
    for rule in ["/w=/h/p", "/w/=/h/p", "/w=/h/p/", "/w/=/h/p/"] {
        check_both(&[rule], &[("/w/x", "/h/p/x"), ("/w", "/h/p")]);
    }
}

#[test]
fn roots() {
    check_both(&["/=/rootfs"], &[("/", "/rootfs/"), ("/a/b", "/rootfs/a/b")]);
    check_to_client(&["/=/rootfs"], &[("/rootfs", Some("/")), ("/rootfsx", None)]);
    check_both(&["/host=/"], &[("/host/", "/"), ("/host/a", "/a")]);
    check_to_companion(&["/host=/"], &[("/host", Some("/")), ("/hosts", None)]);
    check_both(&["/=/"], &[("/", "/"), ("/a", "/a")]);
    check_both(&["/mnt/c=C:\\"], &[("/mnt/c/", "C:\\"), ("/mnt/c/a", "C:\\a")]);
    check_to_companion(&["/mnt/c=C:\\"], &[("/mnt/c", Some("C:\\"))]);
    check_to_companion(&["/=/rootfs", "/home=/users"], &[("/home/a", Some("/users/a"))]);
}

#[test]
fn wsl_and_an_editor_on_windows() {
    check_both(
        &["/mnt/c=C:\\", "/mnt/d/src=D:\\Quelltexte"],
        &[
            ("/mnt/c/Users/me/a b.txt", "C:\\Users\\me\\a b.txt"),
            ("/mnt/d/src/é/文.rs", "D:\\Quelltexte\\é\\文.rs"),
        ],
    );
    check_to_client(
        &["/mnt/c=C:\\", "/mnt/d/src=D:\\Quelltexte"],
        &[
            ("c:\\Users\\Me\\X.txt", Some("/mnt/c/Users/Me/X.txt")),
            ("C:/Users/Me/X.txt", Some("/mnt/c/Users/Me/X.txt")),
            ("c:/Users\\Me/X.txt", Some("/mnt/c/Users/Me/X.txt")),
            ("d:\\QUELLTEXTE\\x", Some("/mnt/d/src/x")),
            ("D:\\Quelltexte2\\x", None),
            ("D:\\other", None),
            ("E:\\x", None),
            ("C:x", None),
            ("\\\\server\\C:\\x", None),
        ],
    );
    // A name that is invalid on Windows would be another file there.
    let names = ["a\\b", "a:b", "a*", "a?", "a\"", "<a", ">a", "a|b"];
    for name in names {
        check_to_companion(&["/mnt/c=C:\\"], &[(&format!("/mnt/c/{name}"), None)]);
    }
}

#[test]
fn wsl_files_in_an_editor_on_windows() {
    for rule in [r"/=\\wsl$\Ubuntu", r"/=\\wsl.localhost\Ubuntu\"] {
        let prefix = rule.trim_start_matches("/=").trim_end_matches('\\');
        let there = format!(r"{prefix}\home\me\a.rs");
        check_both(&[rule], &[("/home/me/a.rs", &there)]);
        check_to_client(
            &[rule],
            &[
                (r"\\wsl$\Ubuntu\home\me\X", Some("/home/me/X")),
                (r"\\wsl.localhost\ubuntu\home\me\X", Some("/home/me/X")),
                (r"\\WSL.LOCALHOST\Ubuntu\etc", Some("/etc")),
                ("//wsl$/Ubuntu/home/me/X", Some("/home/me/X")),
                ("//wsl.localhost/Ubuntu", Some("/")),
                (r"\\wsl$\Debian\home\me\X", None),
                (r"\\wsl$\Ubuntu-22.04\home", None),
                (r"C:\Ubuntu\home", None),
            ],
        );
    }
    // JetBrains IDEs write paths like this.
    check_both(
        &["/home/me=//wsl$/Ubuntu/home/me"],
        &[("/home/me/p/a.kt", "//wsl$/Ubuntu/home/me/p/a.kt")],
    );
}

#[test]
fn a_client_on_windows() {
    check_both(
        &[r"C:\Users\me\p=/home/me/p", r"\\wsl$\Debian=/"],
        &[(r"C:\Users\me\p\src\a.rs", "/home/me/p/src/a.rs"), (r"\\wsl$\Debian\etc\x", "/etc/x")],
    );
    check_to_companion(
        &[r"C:\Users\me\p=/home/me/p"],
        &[
            ("c:/users/ME/p/Src/a.rs", Some("/home/me/p/Src/a.rs")),
            (r"C:\Users\me\p2\a", None),
            (r"C:\Users\me\p\..\q", None),
        ],
    );
    check_both(&[r"C:\p=D:\q"], &[(r"C:\p\a\b", r"D:\q\a\b"), (r"C:\p\a/b", r"D:\q\a/b")]);
    check_both(&["C:/p=/p"], &[("C:/p/a", "/p/a")]);
}

#[test]
fn the_longest_prefix_counts_and_then_the_first() {
    let rules = ["/a=/1", "/a/b=/2", "/a=/3", "/x=/2"];
    check_to_companion(&rules, &[("/a/c", Some("/1/c")), ("/a/b/c", Some("/2/c"))]);
    check_to_client(&rules, &[("/2/c", Some("/a/b/c")), ("/3/c", Some("/a/c"))]);
    // The length of a prefix is its number of parts.
    check_to_client(&["/p=/long-name", "/q=/a/b"], &[("/a/b/c", Some("/q/c"))]);
}

#[test]
fn a_rule_is_two_absolute_paths() {
    for rule in ["", "/a", "/a=", "=/a", "a=/b", "/a=b", "/a=C:", "C:=/a", "/a=C:b", "/a=\\b"] {
        assert!(rule.parse::<Rule>().is_err(), "{rule}");
    }
    check_both(&["/a=b=/c"], &[("/a=b/x", "/c/x")]);
    check_both(&["/a=/c=d"], &[("/a/x", "/c=d/x")]);
    let error = "/a=/b=/c".parse::<Rule>().unwrap_err();
    assert!(error.contains("more than one way"), "{error}");
}

#[test]
fn the_same_file() {
    for (a, b, same) in [
        ("/a/b", "/a/b", true),
        ("/a/b", "/a/B", false),
        ("/a/b", "/a//b", false),
        (r"C:\a\É", "c:/A/é", true),
        (r"C:\a", r"C:\a\b", false),
        (r"\\wsl$\U\a", r"\\wsl.localhost\u\A", true),
        (r"C:\a", "/a", false),
    ] {
        assert_eq!(is_same_file(a, b), same, "{a} {b}");
    }
}

#[test]
fn lists_of_folders() {
    let folders = |text| list(text).collect::<Vec<_>>();
    assert_eq!(folders("/a:/b"), ["/a", "/b"]);
    assert_eq!(folders(r"C:\a;D:\b"), [r"C:\a", r"D:\b"]);
    assert_eq!(folders(r"C:\a"), [r"C:\a"]);
    assert!(is_within(r"c:\A\x", r"C:\a"));
    assert!(!is_within("/ab", "/a"));
}
