//! Compares the events of `docs/contributing/http.md` with those of `GET /events`.

use companion_protocol::ide::{IdeContext, OpenFile, Position, WorkspaceState, events};

const PAGE: &str = include_str!("../../../docs/contributing/http.md");

#[test]
fn the_page_shows_events_as_they_are_sent() {
    let path = "/home/me/project/main.rs";
    let file = OpenFile {
        path: path.to_owned(),
        timestamp: 1_795_260_166_857,
        is_active: true,
        cursor: Position::new(3, 7),
        selected_text: None,
    };
    let state = WorkspaceState { open_files: vec![file], is_trusted: None };
    let context = IdeContext { workspace_state: state };
    let expected = [
        serde_json::to_string(&events::context_update(&context)).unwrap(),
        serde_json::to_string(&events::diff_accepted(path, "…")).unwrap(),
    ];
    let shown: Vec<_> = PAGE.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert_eq!(shown, expected);
}
