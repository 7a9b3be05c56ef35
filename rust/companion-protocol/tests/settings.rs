//! Tests the JSON that crosses JNI. Kotlin's tests read the same files.

use companion_protocol::diagnostics::{
    Diagnostic, Diagnostics, DiagnosticsRequest, FileDiagnostics, Range, Severity,
};
use companion_protocol::ide::Position;
use companion_protocol::profile::GEMINI;
use companion_protocol::settings::Settings;
use companion_protocol::status::{ConnectedCli, DiscoveryStatus, Status};
use serde_json::{Value, json};

#[test]
fn the_settings_have_these_defaults() {
    let defaults: Value = serde_json::from_str(include_str!("settings.json")).unwrap();
    let settings = Settings { ide_pid: 1, ..Settings::default() };
    assert_eq!(serde_json::to_value(settings).unwrap(), defaults);
}

#[test]
fn a_status_has_this_json() {
    let status = Status {
        port: 4001,
        listening: vec!["127.0.0.1:4001".parse().unwrap(), "[fd00::1]:4001".parse().unwrap()],
        not_listening: vec!["can't listen on 192.0.2.1".to_owned()],
        discovery_files: vec![DiscoveryStatus {
            client: &GEMINI,
            path: "/tmp/file.json".to_owned(),
            in_place: true,
        }],
        clis: vec![ConnectedCli {
            name: "Gemini CLI".to_owned(),
            version: "0.61.0".to_owned(),
            awaits_hook: true,
        }],
        open_diffs: 3,
        private_files: [("/a.key".to_owned(), "An ignore file lists it.".to_owned())].into(),
        tasks: 4,
    };
    let expected: Value = serde_json::from_str(include_str!("status.json")).unwrap();
    assert_eq!(serde_json::to_value(status).unwrap(), expected);
}

#[test]
fn editors_send_diagnostics_in_this_json() {
    let mut expected: Value = serde_json::from_str(include_str!("diagnostics.json")).unwrap();
    let paths = vec!["/a".to_owned(), "/b".to_owned()];
    let request = DiagnosticsRequest { paths, severity: Severity::default() };
    assert_eq!(serde_json::to_value(request).unwrap(), expected["request"]);
    let at = |character| Position::new(3, character).unwrap();
    let missing_comma = Diagnostic {
        severity: Severity::Error,
        message: "Expected ','".to_owned(),
        range: Range { start: at(14), end: at(15) },
        source: Some("JSON".to_owned()),
        code: Some("syntax".to_owned()),
    };
    let file = |path: &str, diagnostics, incomplete| FileDiagnostics {
        path: path.to_owned(),
        diagnostics,
        incomplete,
    };
    let indexing = Some("the IDE is still indexing".to_owned());
    let files = vec![file("/a", vec![missing_comma], None), file("/b", Vec::new(), indexing)];
    let answer = serde_json::from_value::<Diagnostics>(expected["answer"].take()).unwrap();
    assert_eq!(answer, Diagnostics { files });
}

#[test]
fn absent_settings_have_their_defaults() {
    let given = json!({
        "workspace": ["/a", "/b"],
        "trusted": false,
        "listen": ["172.17.0.1", "fd00:0::1"],
        "allowedHosts": ["Build-Box:9000", "fd00:0::1"],
        "logLevel": "trace",
    });
    let (settings, unknown) = Settings::from_json(&given.to_string()).unwrap();
    let expected = Settings {
        workspace: vec!["/a".into(), "/b".into()],
        trusted: Some(false),
        listen: vec!["172.17.0.1".parse().unwrap(), "fd00::1".parse().unwrap()],
        allowed_hosts: vec!["build-box:9000".parse().unwrap(), "[fd00::1]".parse().unwrap()],
        log_level: log::LevelFilter::Trace,
        ..Settings::default()
    };
    assert_eq!((settings, unknown), (expected, Vec::new()));
}

#[test]
fn a_setting_of_a_neighbouring_version_is_named_and_left_out() {
    let (settings, unknown) =
        Settings::from_json(r#"{"colour": {"review": 1}, "review": false, "Review": 7}"#).unwrap();
    assert!(!settings.review);
    assert_eq!(unknown, ["Review", "colour"]);
}

#[test]
fn a_wrong_setting_is_named() {
    for (text, expected) in [
        ("", "settings: EOF while parsing a value at line 1 column 0"),
        ("[]", "settings: invalid type: sequence, expected a map at line 1 column 0"),
        (r#"{"trusted": 2}"#, "trusted: invalid type: integer `2`, expected a boolean"),
        (r#"{"workspace": "/a"}"#, "workspace: invalid type: string \"/a\", expected a sequence"),
        (r#"{"port": 1, "idePid": -1}"#, "idePid: invalid value: integer `-1`, expected u32"),
        (r#"{"review": null}"#, "review: invalid type: null, expected a boolean"),
        (r#"{"bodyLimit": 0}"#, "bodyLimit: 0 is not from 1 to 65535"),
        (r#"{"bodyLimit": 65536}"#, "bodyLimit: invalid value: integer `65536`, expected u16"),
        (
            r#"{"allowedHosts": ["a", "*.b"]}"#,
            "allowedHosts: \"*.b\" is not a host: each name must be given in full",
        ),
        (
            r#"{"listen": ["127.0.0.2", "224.0.0.1"]}"#,
            "listen: \"224.0.0.1\" is a multicast address, not a machine's",
        ),
        (
            r#"{"listen": ["127.0.0.2", "::"]}"#,
            "listen: \"::\": every machine that reaches this one could try to connect; give one \
             address, such as 172.17.0.1",
        ),
    ] {
        assert_eq!(Settings::from_json(text).unwrap_err().to_string(), expected, "{text}");
    }
    let loud = Settings::from_json(r#"{"logLevel": "loud"}"#).unwrap_err().to_string();
    assert!(loud.starts_with("logLevel: "), "{loud}");
    let twice = r#"{"listen": ["::"], "listenOnAllAddresses": true}"#;
    assert!(Settings::from_json(twice).is_ok());
}
