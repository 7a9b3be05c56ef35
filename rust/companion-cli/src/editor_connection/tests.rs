//! Tests the messages to an editor that reads late.

use companion_protocol::editor::{CompanionNotification, PrivateFiles, Sessions};
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
        editor.notify(CompanionNotification::Sessions(Sessions { count }));
        let paths = vec![format!("/{count}")];
        editor.notify(CompanionNotification::PrivateFiles(PrivateFiles { paths }));
    }
    let lines: Vec<_> = outgoing.try_iter().map(|outgoing| written(&outgoing)).collect();
    let [sessions, private] = &lines[..] else { panic!("{} lines", lines.len()) };
    assert!(sessions.contains(r#"{"count":1000}"#), "{sessions}");
    assert!(private.contains(r#"["/1000"]"#), "{private}");
    editor.notify(CompanionNotification::Sessions(Sessions { count: 0 }));
    let lines: Vec<_> = outgoing.try_iter().map(|outgoing| written(&outgoing)).collect();
    assert!(matches!(&lines[..], [last] if last.contains(r#"{"count":0}"#)), "{lines:?}");
}
