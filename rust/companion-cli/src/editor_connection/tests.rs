//! Tests the messages to an editor that reads late.

use companion_protocol::editor::{
    CliChanged, Clients, CommentsDelivered, CompanionNotification, PrivateFiles,
};
use companion_server::EditorHost as _;

use super::{Editor, Outgoing};

fn written(outgoing: &Outgoing) -> String {
    let mut line = Vec::new();
    outgoing.write(&mut line).unwrap();
    String::from_utf8(line).unwrap()
}

#[test]
fn of_a_state_only_the_newest_waits() {
    let (editor, outgoing) = Editor::new();
    for count in 1..=1000 {
        editor.notify(CompanionNotification::Clients(Clients { count }));
        let paths = vec![format!("/{count}")];
        let private = PrivateFiles { paths, ..PrivateFiles::default() };
        editor.notify(CompanionNotification::PrivateFiles(private));
    }
    let lines: Vec<_> = outgoing.try_iter().map(|outgoing| written(&outgoing)).collect();
    let [sessions, private] = &lines[..] else { panic!("{} lines", lines.len()) };
    assert!(sessions.contains(r#"{"count":1000}"#), "{sessions}");
    assert!(private.contains(r#"["/1000"]"#), "{private}");
    editor.notify(CompanionNotification::Clients(Clients { count: 0 }));
    let lines: Vec<_> = outgoing.try_iter().map(|outgoing| written(&outgoing)).collect();
    assert!(matches!(&lines[..], [last] if last.contains(r#"{"count":0}"#)), "{lines:?}");
}

#[test]
fn every_event_waits_and_the_newest_changes_of_each_prompt() {
    let (editor, outgoing) = Editor::new();
    for id in ["a", "b"] {
        let delivered = CommentsDelivered { ids: vec![id.to_owned()] };
        editor.notify(CompanionNotification::CommentsDelivered(delivered));
    }
    for (prompt, title) in [(1, "old"), (2, "other"), (1, "new")] {
        let (session, title) = ("cli".to_owned(), title.to_owned());
        let changed = CliChanged { session, prompt, title, time: 0, files: Vec::new() };
        editor.notify(CompanionNotification::CliChanged(changed));
    }
    let lines: Vec<_> = outgoing.try_iter().map(|outgoing| written(&outgoing)).collect();
    let words = [r#"["a"]"#, r#"["b"]"#, r#""new""#, r#""other""#];
    assert_eq!(lines.len(), words.len(), "{lines:?}");
    for (line, word) in lines.iter().zip(words) {
        assert!(line.contains(word), "{line}");
    }
}
