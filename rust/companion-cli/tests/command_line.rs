//! Tests the command line: its help, errors and exit codes.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::{PROGRAM, assert_shows, complaints, first_line, help, text};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_gemini-companion"))
}

fn run(args: &[&str]) -> Output {
    let mut program = program();
    program.env_remove("GEMINI_CLI_IDE_AUTH_TOKEN").args(args);
    program.stdin(Stdio::null()).output().unwrap()
}

#[test]
fn help_is_for_people_who_see_it_for_the_first_time() {
    insta::assert_snapshot!("help", text(&run(&["--help"]).stdout));
    insta::assert_snapshot!("serve_help", text(&run(&["serve", "--help"]).stdout));
    insta::assert_snapshot!("mcp_help", help("mcp"));
    insta::assert_snapshot!("hook_help", help("hook"));
    let bridge = help("bridge");
    assert_shows(&bridge, "## WSL");
    insta::assert_snapshot!("bridge_help", bridge);
}

#[test]
fn its_version_has_the_name_by_which_it_is_run() {
    let version = concat!("gemini-companion ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(text(&run(&["--version"]).stdout), version);
}

#[test]
fn wrong_arguments_are_named() {
    let cases: [&[&str]; 28] = [
        &["serve"],
        &["serve", "--workspace", ".", "--port", "70000"],
        &["serve", "--workspace", ".", "--body-limit", "0"],
        &["serve", "--workspace", ".", "--log-level", "loud"],
        &["serve", "--workspace", "/no/such/folder"],
        &["serve", "--workspace", ".", "--listen", "localhost"],
        &["serve", "--workspace", ".", "--listen", "0.0.0.0"],
        &["serve", "--workspace", ".", "--listen", "::"],
        &["serve", "--workspace", ".", "--listen", "224.0.0.1", "--listen-on-all-addresses"],
        &["serve", "--workspace", ".", "--listen-on-all-addresses"],
        // An address for documentation, which no machine has.
        &["serve", "--workspace", ".", "--listen", "192.0.2.1"],
        &["serve", "--workspace", ".", "--allow-host", "http://build-box"],
        &["serve", "--workspace", ".", "--trusted", "--untrusted"],
        &["serve", "--workspace", ".", "--ide-pid", "0"],
        &["serve", "--workspace", ".", "--ide-name", "a\nb"],
        &["serve", "--workspace", ".", "--ide-display-name", " "],
        &["bridge", "--host", ""],
        &["bridge", "--map", "/work=/a", "--map", "/work/=/b"],
        &["bridge", "--map", "/work"],
        &["bridge", "--map", "/work=relative"],
        &["bridge", "--map", "/a=/b=/c"],
        &["bridge", "--wait", "18446744073709551615"],
        &["bridge", "--workspace", "/no/such/folder"],
        &["bridge", "--port", "80"],
        &["bridge", "--token-file", "token"],
        &["mcp", "--workspace", "/no/such/folder"],
        &["mcp", "--wait", "1"],
        &["completions", "tcsh"],
    ];
    insta::assert_snapshot!(complaints(run, &cases));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    for args in [&["--help"][..], &["man"], &["completions", "fish"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = program();
        command.args(args).stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped());
        let Output { status, stderr, .. } = command.output().unwrap();
        assert_eq!((status.code(), text(&stderr)), (Some(0), ""), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_error_that_can_not_be_written_leaves_the_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    for (args, code) in [(&["env"][..], 1), (&["setup", "no such editor"], 3)] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = crate::common::program(dir.path());
        let output = command.args(args).current_dir(&dir).stderr(full).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}");
    }
}

#[test]
fn a_port_that_is_taken_is_reported() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = run(&["serve", "--workspace", ".", "--port", &port]);
    let message = text(&output.stderr);
    assert!(message.contains(&format!("can't listen on port {port}")), "{message}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn an_event_that_is_not_an_object_goes_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let companion = TcpListener::bind("127.0.0.1:0").unwrap();
    companion.set_nonblocking(true).unwrap();
    let port = companion.local_addr().unwrap().port().to_string();
    let token = dir.path().join("token");
    std::fs::write(&token, "secret").unwrap();
    for event in ["[1]", "\"text\"", "null", " 7"] {
        let mut hook = crate::common::program(dir.path());
        hook.args(["hook", "before-agent", "--host", "127.0.0.1", "--port", &port]);
        let mut hook = hook.arg("--token-file").arg(&token).stdin(Stdio::piped()).spawn().unwrap();
        hook.stdin.take().unwrap().write_all(event.as_bytes()).unwrap();
        assert!(hook.wait().unwrap().success());
        let error = companion.accept().map(|_| event).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    }
}

#[test]
fn wrong_arguments_of_a_hook_never_block_an_edit() {
    let wrong: [&[&str]; 5] = [
        &["hook"],
        &["hook", "before-toll"],
        &["hook", "before-tool", "--host", ""],
        &["hook", "before-tool", "--unknown"],
        &["--log-level", "loud", "hook", "before-tool"],
    ];
    for args in wrong {
        let output = run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
    assert_eq!(run(&["hok", "before-tool"]).status.code(), Some(2));
    assert_eq!(run(&["container", "--unknown", "--", "docker", "hook"]).status.code(), Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn what_can_not_be_printed_is_an_error() {
    for args in
        [&["--help"][..], &["--version"], &["serve", "--help"], &["man"], &["completions", "zsh"]]
    {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = program().args(args).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(text(&output.stderr).contains("No space left on device"), "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn arguments_that_are_not_utf_8_reach_the_container() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let dir = tempfile::tempdir().unwrap();
    let docker = dir.path().join("docker");
    std::fs::write(&docker, "#!/bin/sh\nprintf '%s' \"$3\"\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&docker, mode).unwrap();
    let mount = OsStr::from_bytes(b"--volume=/\xe4:/a");
    let mut container = program();
    container.args(["container", "--no-ide", "--"]).arg(docker).arg("run").arg("-t").arg(mount);
    let output = container.output().unwrap();
    assert_eq!(output.stdout, mount.as_bytes(), "{}", text(&output.stderr));
    let mut bridge = program();
    bridge.args(["bridge", "--map"]).arg(OsStr::from_bytes(b"/\xe4=/a")).stdin(Stdio::null());
    let complaint = String::from_utf8_lossy(&bridge.output().unwrap().stderr).into_owned();
    assert!(complaint.contains("'--map <FROM=TO>': MCP messages can't contain"), "{complaint}");
    let setup = program().args(["setup", "-y"]).arg(OsStr::from_bytes(b"/\xe4")).output().unwrap();
    assert_eq!(setup.status.code(), Some(3));
}

#[test]
fn completions_and_the_man_page_know_every_command() {
    for args in
        [&["completions", "bash"][..], &["completions", "fish"], &["completions", "zsh"], &["man"]]
    {
        let output = run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        // The man page has hyphens with a backslash.
        let said = text(&output.stdout).replace("\\-", "-").to_lowercase();
        let words = "serve setup doctor changes container bridge hook dry-run body-limit";
        for word in words.split(' ') {
            assert!(said.contains(word), "{args:?} lacks {word}");
        }
    }
}

#[cfg(unix)]
#[test]
fn bash_completes_commands_and_options() {
    let script = r#"
        source <("$0" completions bash)
        function=$(complete -p gemini-companion | sed "s/.*-F \([^ ]*\).*/\1/")
        COMP_WORDS=(gemini-companion setup --dr) COMP_CWORD=2
        $function gemini-companion --dr setup
        echo "${COMPREPLY[@]}""#;
    let bash =
        Command::new("bash").args(["-c", script, env!("CARGO_BIN_EXE_gemini-companion")]).output();
    let output = bash.unwrap();
    assert_eq!(text(&output.stdout), "--dry-run\n", "{}", text(&output.stderr));
}

#[cfg(unix)]
#[test]
fn behind_npms_launcher_the_editor_is_the_one_that_started_the_launcher() {
    let dir = tempfile::tempdir().unwrap();
    let launcher = "GEMINI_COMPANION_LAUNCHER=$$ \"$0\" \"$@\"; exit $?";
    let mut serve = crate::common::isolated(Path::new("/bin/sh"), dir.path())
        .args(["-c", launcher, PROGRAM, "--log-level", "error", "serve", "--workspace"])
        .arg(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let ready = first_line(&mut serve);
    let editor = std::process::id().to_string();
    assert_eq!(ready["params"]["env"]["GEMINI_CLI_IDE_PID"], editor);
    drop(serve.stdin.take());
    serve.wait().unwrap();
}
