//! Tests that setup turns IDE mode on, and keeps the rest of the clients' settings.

use std::fs;
use std::path::Path;

use crate::common::{Made, outcomes, write};
use companion_setup::{Os, Outcome, Report};

/// Returns a settings file after setup, and after the removal.
fn on_and_off(text: &str) -> (String, String) {
    let made = Made::new(Os::Linux);
    let file = write(made.home(".gemini/settings.json"), text);
    let report = made.carry_out(&made.package("1.0"));
    assert_eq!(outcomes(&report), [("Gemini CLI", Outcome::Done)], "{report}");
    let on = fs::read_to_string(&file).unwrap();
    let backup = made.home(".gemini/settings.json.before-setup-1");
    assert_eq!(fs::read_to_string(&backup).unwrap(), text, "a backup is made");
    assert_eq!(outcomes(&made.remove()), [("Gemini CLI", Outcome::Done)]);
    assert!(!backup.exists());
    (on, fs::read_to_string(&file).unwrap())
}

#[test]
fn comments_order_and_formatting_stay() {
    for (text, expected) in [
        ("{}", "{\n  \"ide\": {\n    \"enabled\": true\n  }\n}"),
        (
            "{ \"ide\": { \"enabled\": false } } // end\n",
            "{ \"ide\": { \"enabled\": true } } // end\n",
        ),
        (
            "{\n    // mine\n    \"z\": 1, /* b */\n    \"ide\": {\n        \"hasSeenNudge\": true\n    },\n    \"a\": [1,2]\n}\n",
            "{\n    // mine\n    \"z\": 1, /* b */\n    \"ide\": {\n        \"hasSeenNudge\": true,\n        \"enabled\": true\n    },\n    \"a\": [1,2]\n}\n",
        ),
        (
            "{\r\n  \"key\": \"é // no comment\"\r\n}\r\n",
            "{\r\n  \"key\": \"é // no comment\",\r\n  \"ide\": {\r\n    \"enabled\": true\r\n  }\r\n}\r\n",
        ),
    ] {
        let (on, off) = on_and_off(text);
        assert_eq!(on, expected);
        assert_eq!(off, text, "nothing is left of it");
    }
}

/// Gemini CLI reads such a text as true.
#[test]
fn a_text_may_turn_it_on() {
    let made = Made::new(Os::Linux);
    write(made.home(".gemini/settings.json"), "{\"ide\": {\"enabled\": \"True\"}}");
    let report = made.carry_out(&made.package("1.0"));
    assert_eq!(outcomes(&report), [("Gemini CLI", Outcome::Unchanged)], "{report}");
}

#[test]
fn of_a_key_that_is_there_twice_the_last_one_counts() {
    for (text, expected) in [
        (
            "{\"ide\": {\"enabled\": false}, \"ide\": {\"enabled\": false}}",
            "{\"ide\": {\"enabled\": false}, \"ide\": {\"enabled\": true}}",
        ),
        (
            "{\"ide\": {\"enabled\": true, \"enabled\": false}}",
            "{\"ide\": {\"enabled\": true, \"enabled\": true}}",
        ),
        (
            "{\"ide\": {\"enabled\": true}, \"\\u0069de\": {\"enabled\": false}}",
            "{\"ide\": {\"enabled\": true}, \"\\u0069de\": {\"enabled\": true}}",
        ),
    ] {
        let (on, off) = on_and_off(text);
        assert_eq!(on, expected);
        assert_eq!(off, text);

        let made = Made::new(Os::Linux);
        let file = write(made.home(".gemini/settings.json"), text);
        change_while_on(&made, &file, "{\"ide", "{ \"ide");
        assert_eq!(fs::read_to_string(&file).unwrap(), text.replacen("{\"ide", "{ \"ide", 1));
    }
}

#[test]
fn a_plan_names_the_backup_and_only_a_run_names_the_record() {
    let made = Made::new(Os::Linux);
    write(made.home(".gemini/settings.json"), "{}");
    let plan = made.plan(&made.package("1.0")).to_string();
    assert!(
        plan.contains("the earlier settings are kept in settings.json.before-setup-1\n"),
        "{plan}"
    );
    let record = made.record();
    assert!(!plan.contains("Installed items") && !record.exists(), "{plan}");
    let done = made.carry_out(&made.package("1.0")).to_string();
    assert!(done.contains(record.to_str().unwrap()) && record.exists(), "{done}");
}

#[test]
fn what_is_on_stays_and_what_is_not_there_is_made() {
    let made = Made::new(Os::Linux);
    let package = made.package("1.0");
    let file = made.home(".gemini/settings.json");
    assert_eq!(outcomes(&made.carry_out(&package)), [("Gemini CLI", Outcome::Done)]);
    let made_text = fs::read_to_string(&file).unwrap();
    assert!(made_text.contains("\"enabled\": true"));
    assert_eq!(outcomes(&made.carry_out(&package)), [("Gemini CLI", Outcome::Unchanged)]);
    made.remove();
    assert!(!made.home(".gemini").exists());
    assert_eq!(outcomes(&made.remove()), []);
}

/// Turns IDE mode on, makes the user change the file, and removes everything. Returns the
/// user's text.
fn change_while_on(made: &Made, file: &Path, from: &str, to: &str) -> (String, Report) {
    made.carry_out(&made.package("1.0"));
    let changed = fs::read_to_string(file).unwrap().replace(from, to);
    fs::write(file, &changed).unwrap();
    (changed, made.remove())
}

#[test]
fn what_the_user_has_changed_since_stays() {
    // Blanks alone count, too.
    for (before, from, to, expected) in
        [("{\"a\": 1}", "1", "2", "{\"a\":2}"), ("{\"a\": \"b c\"}", "b c", "bc", "{\"a\":\"bc\"}")]
    {
        let made = Made::new(Os::Linux);
        let file = write(made.home(".gemini/settings.json"), before);
        change_while_on(&made, &file, from, to);
        let left = fs::read_to_string(&file).unwrap();
        assert_eq!(left.split_whitespace().collect::<String>(), expected);

        let (off, report) = change_while_on(&made, &file, "true", "false");
        assert_eq!(outcomes(&report), [("Gemini CLI", Outcome::Unchanged)]);
        assert_eq!(fs::read_to_string(&file).unwrap(), off);
    }
}

#[test]
fn what_was_there_or_is_a_comment_stays_when_the_user_has_changed_something() {
    let comments = "{\n  \"a\": 1,\n  \"ide\": {\n    // \"hasSeenNudge\": true\n  }\n}\n";
    let on = "{\n  \"a\": 1,\n  \"ide\": {\n    \"enabled\": true\n  }\n}";
    for (before, from, to, expected) in [
        (comments, "1", "2", comments.replace('1', "2")),
        ("{\"a\": 1, \"ide\": {}}", "1", "2", "{\"a\": 2, \"ide\": {}}".to_owned()),
        // The setting can't be removed without the comment.
        ("{\"a\": 1}", "true", "true // mine", on.replace("true", "false // mine")),
        (
            "{\"a\": 1}",
            "\"ide\": {",
            "\"ide\": { // mine",
            on.replace("true", "false").replace("\"ide\": {", "\"ide\": { // mine"),
        ),
    ] {
        let made = Made::new(Os::Linux);
        let file = write(made.home(".gemini/settings.json"), before);
        let (_, report) = change_while_on(&made, &file, from, to);
        assert_eq!(fs::read_to_string(&file).unwrap(), expected);
        let backup = file.with_file_name("settings.json.before-setup-1");
        assert_eq!(fs::read_to_string(backup).unwrap(), before);
        let says =
            "restored IDE mode; the earlier settings are kept in settings.json.before-setup-1";
        assert_eq!(report.steps[0].message, says);
    }
}

#[test]
fn the_last_copy_of_settings_that_are_gone_stays() {
    let made = Made::new(Os::Linux);
    let file = write(made.home(".gemini/settings.json"), "{\"a\": 1}");
    made.carry_out(&made.package("1.0"));
    fs::remove_file(&file).unwrap();
    assert_eq!(outcomes(&made.remove()), [("Gemini CLI", Outcome::Unchanged)]);
    let backup = made.home(".gemini/settings.json.before-setup-1");
    assert_eq!(fs::read_to_string(backup).unwrap(), "{\"a\": 1}");
}

#[test]
fn the_last_copy_of_settings_that_were_reset_stays() {
    let lots = "{\"lots\": \"of settings\"}";
    for times in [1, 2] {
        let made = Made::new(Os::Linux);
        let file = write(made.home(".gemini/settings.json"), lots);
        for _ in 0..times {
            made.carry_out(&made.package("1.0"));
            fs::write(&file, "{}").unwrap();
        }
        let report = made.remove();
        assert_eq!(outcomes(&report), [("Gemini CLI", Outcome::Unchanged)]);
        assert_eq!(fs::read_to_string(&file).unwrap(), "{}");
        let backup = file.with_file_name("settings.json.before-setup-1");
        assert_eq!(fs::read_to_string(backup).unwrap(), lots);
        assert_eq!(fs::read_dir(made.home(".gemini")).unwrap().count(), 2, "no more than that");
        assert!(report.to_string().contains("kept in settings.json.before-setup-1"), "{report}");
    }
}

#[test]
fn a_copy_that_the_user_has_moved_back_is_no_copy_any_more() {
    let made = Made::new(Os::Linux);
    let file = write(made.home(".gemini/settings.json"), "{}");
    made.carry_out(&made.package("1.0"));
    fs::rename(made.home(".gemini/settings.json.before-setup-1"), &file).unwrap();
    made.carry_out(&made.package("1.0"));
    let report = made.remove();
    assert_eq!(report.steps[0].message, "restored IDE mode");
    assert_eq!(fs::read_dir(made.home(".gemini")).unwrap().count(), 1, "nothing lies around");
}

#[test]
fn a_copy_of_what_the_settings_are_again_goes() {
    let made = Made::new(Os::Linux);
    let file = write(made.home(".gemini/settings.json"), "{\"ide\": {\"enabled\": false}}");
    let (_, report) = change_while_on(&made, &file, "true", "false");
    assert_eq!(outcomes(&report), [("Gemini CLI", Outcome::Unchanged)]);
    assert_eq!(fs::read_dir(made.home(".gemini")).unwrap().count(), 1, "nothing lies around");
}

#[test]
fn a_byte_order_mark_stays_if_the_client_reads_it() {
    let mut made = Made::new(Os::Linux);
    made.clients[0].allows_bom = true;
    for text in ["\u{feff}{}", "\u{feff}{ \"ide\": { \"enabled\": false } }"] {
        let file = write(made.home(".gemini/settings.json"), text);
        let report = made.carry_out(&made.package("1.0"));
        assert_eq!(outcomes(&report), [("Gemini CLI", Outcome::Done)], "{report}");
        let on = fs::read_to_string(&file).unwrap();
        assert!(on.starts_with('\u{feff}') && on.contains("true"), "{on:?}");
        write(&file, &format!("{on}\n")); // no copy of the settings fits any more
        made.remove();
        let off = fs::read_to_string(&file).unwrap();
        assert!(off.starts_with('\u{feff}') && !off.contains("true"), "{off:?}");
    }
}

#[test]
fn a_file_that_can_not_be_changed_is_left_alone_with_a_sentence() {
    let texts = [
        ("{ \"a\": ", "not valid JSON"),
        ("{ \"a\": 1, }", "Correct that"),
        // The clients' parser refuses these, too.
        ("{ \"a\": \"\t\" }", "not valid JSON"),
        ("{ \"a\": \"\n\" }", "not valid JSON"),
        ("{}\u{a0}", "not valid JSON"),
        ("// a\r{}", "not valid JSON"),
        ("[]", "not a JSON object"),
        ("\u{feff}{}", "they begin with a byte order mark"),
        ("{ \"ide\": true }", "\"ide\" is not an object"),
        ("{ \"ide\": { \"enabled\": true }, \"ide\": true }", "\"ide\" is not an object"),
        ("{ \"ide\": { \"enabled\": \"yes\" } }", "neither true nor false"),
    ];
    // Windows' own editors save as UTF-16.
    let utf_16 = (&b"\xff\xfe{\0}\0"[..], "they are not in UTF-8");
    for (content, why) in
        texts.map(|(text, why)| (text.as_bytes(), why)).into_iter().chain([utf_16])
    {
        let made = Made::new(Os::Linux);
        let file = write(made.home(".gemini/settings.json"), "");
        fs::write(&file, content).unwrap();
        let report = made.carry_out(&made.package("1.0"));
        assert_eq!(outcomes(&report), [("Gemini CLI", Outcome::Failed)], "{why}");
        assert!(report.steps[0].message.contains(why), "{report}");
        assert_eq!(fs::read(&file).unwrap(), content);
        assert_eq!(fs::read_dir(made.home(".gemini")).unwrap().count(), 1, "nothing lies around");
    }
}

#[cfg(unix)]
#[test]
fn links_of_the_user_are_followed() {
    use std::os::unix::fs::symlink;

    for is_folder in [false, true] {
        let made = Made::new(Os::Linux);
        let real = write(made.root("dotfiles/settings.json"), "{}");
        let link = made.home(if is_folder { ".gemini" } else { ".gemini/settings.json" });
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(if is_folder { real.parent().unwrap() } else { &real }, &link).unwrap();
        let before = made.files();
        let package = made.package("1.0");
        assert_eq!(outcomes(&made.plan(&package)), [("Gemini CLI", Outcome::Planned)]);
        let report = made.carry_out(&package);
        assert_eq!(outcomes(&report), [("Gemini CLI", Outcome::Done)], "{report}");
        assert!(fs::read_to_string(&real).unwrap().contains("\"enabled\": true"));
        assert!(link.is_symlink());
        assert_eq!(outcomes(&made.remove()), [("Gemini CLI", Outcome::Done)]);
        let mut after = made.files();
        after.retain(|(path, _)| !path.starts_with(made.home(".local")));
        assert_eq!(after, before);
        assert!(link.is_symlink());
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_something_of_another_user_or_to_nothing_is_refused() {
    for (link, is_foreign) in [(".gemini", true), (".gemini/settings.json", false)] {
        let made = Made::new(Os::Linux);
        let target = if is_foreign { made.of_another_user() } else { made.root("nowhere") };
        let link = made.home(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&target, link).unwrap();
        let before = made.files();
        let plan = made.plan(&made.package("1.0"));
        let report = made.carry_out(&made.package("1.0"));
        assert_eq!(outcomes(&report), [("Gemini CLI", Outcome::Failed)]);
        let why = if is_foreign { "belongs to another user" } else { "which does not exist" };
        assert!(report.steps[0].message.contains(why), "{report}");
        assert_eq!(plan.steps, report.steps);
        let mut after = made.files();
        after.retain(|(path, _)| !path.starts_with(made.home(".local")));
        assert_eq!(after, before, "nothing lies around");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_is_read_only_stays_as_it_is() {
    let made = Made::new(Os::Linux);
    let file = write(made.home(".gemini/settings.json"), "{}");
    let set_writable = |mode| {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(&file, permissions).unwrap();
    };
    set_writable(0o444);
    let plan = made.plan(&made.package("1.0"));
    let report = made.carry_out(&made.package("1.0"));
    assert_eq!(outcomes(&report), [("Gemini CLI", Outcome::Failed)]);
    assert!(report.steps[0].message.contains("read-only"), "{report}");
    assert_eq!(plan.steps, report.steps);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}");
    assert_eq!(fs::read_dir(made.home(".gemini")).unwrap().count(), 1, "nothing lies around");

    set_writable(0o644);
    made.carry_out(&made.package("1.0"));
    set_writable(0o444);
    assert_eq!(
        outcomes(&made.carry_out(&made.package("1.0"))),
        [("Gemini CLI", Outcome::Unchanged)]
    );
    let on = fs::read_to_string(&file).unwrap();
    for report in [made.plan_remove(), made.remove()] {
        assert_eq!(outcomes(&report), [("Gemini CLI", Outcome::Failed)]);
        assert!(report.steps[0].message.contains("read-only"), "{report}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), on);
}

#[cfg(unix)]
#[test]
fn permissions_stay() {
    use std::os::unix::fs::PermissionsExt;

    let made = Made::new(Os::Linux);
    let file = write(made.home(".gemini/settings.json"), "{}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    made.carry_out(&made.package("1.0"));
    let mode_of =
        |name| fs::metadata(file.with_file_name(name)).unwrap().permissions().mode() & 0o777;
    for name in ["settings.json", "settings.json.before-setup-1"] {
        assert_eq!(mode_of(name), 0o640, "{name}");
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    made.remove();
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}");
    assert_eq!(mode_of("settings.json"), 0o600, "as the user has set them since");
}

#[test]
fn a_switch_that_its_user_has_turned_off_stays_off() {
    let made = Made::new(Os::Linux);
    let file = write(made.home(".gemini/settings.json"), "{\"a\": 1}");
    let package = made.package("1.0");
    made.carry_out(&package);
    let off = fs::read_to_string(&file).unwrap().replace("true", "false");
    fs::write(&file, &off).unwrap();
    for report in [made.plan(&package), made.carry_out(&package)] {
        assert_eq!(outcomes(&report), [("Gemini CLI", Outcome::Skipped)]);
        assert!(report.steps[0].message.contains("/ide enable"), "{report}");
    }
    let report = made.remove();
    assert_eq!(fs::read_to_string(&file).unwrap(), off);
    assert!(report.to_string().contains("kept in settings.json.before-setup-1"), "{report}");
}

#[test]
fn an_empty_file_is_filled_and_empty_again_after_the_removal() {
    for text in ["", "\n", " \t\r\n", "// mine\n", "/* mine */"] {
        let (on, off) = on_and_off(text);
        let json = on.replace("// mine", "").replace("/* mine */", "");
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json, serde_json::json!({ "ide": { "enabled": true } }), "{on:?}");
        assert_eq!(off, text);
    }
}

/// A settings file that a tool such as Nix generates.
#[cfg(unix)]
#[test]
fn for_a_file_that_can_not_be_written_the_way_by_hand_is_named() {
    use std::os::unix::fs::PermissionsExt;

    for is_linked in [false, true] {
        let made = Made::new(Os::Linux);
        let link = made.home(".gemini/settings.json");
        let file = if is_linked { made.root("store/settings.json") } else { link.clone() };
        write(&file, "{}");
        if is_linked {
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(&file, &link).unwrap();
        }
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        let report = made.plan(&made.package("1.0"));
        let shown = if is_linked {
            format!("{} is a link to {}, which is read-only", link.display(), file.display())
        } else {
            format!("{} is read-only", link.display())
        };
        let fix = "add to settings.json, or to the source that generates it: \"ide\": { \"enabled\": true }";
        assert_eq!(report.steps[0].message, format!("{shown}; {fix}"));
    }
}

#[test]
fn a_file_in_place_of_the_folder_is_named() {
    let made = Made::new(Os::Linux);
    let file = write(made.home(".gemini"), "");
    let report = made.carry_out(&made.package("1.0"));
    assert_eq!(outcomes(&report), [("Gemini CLI", Outcome::Failed)], "{report}");
    let why = format!("{} is not a folder", file.display());
    assert!(report.steps[0].message.contains(&why), "{report}");
}

#[cfg(unix)]
#[test]
fn settings_that_are_a_pipe_do_not_block() {
    let made = Made::new(Os::Linux);
    let file = made.home(".gemini/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
    let report = made.carry_out(&made.package("1.0"));
    assert_eq!(outcomes(&report), [("Gemini CLI", Outcome::Failed)], "{report}");
    assert!(report.to_string().contains("it is not a plain file"), "{report}");
}
