//! Compares what users read in several places, or beside the types of the code.

use crate::common::{read, words};

/// Sentences with one fact: documents, and the words of each.
type Sentences = [(&'static str, &'static str)];

const PROTOCOL: &str = "docs/editor-protocol.md";
const HELP: &str = "editors/nvim/doc/gemini_companion.txt";
const BUNDLE: &str = "plugin-kotlin/src/main/resources/messages/CompanionBundle.properties";
const PLUGIN: &str = "plugin-kotlin/src/current/resources/META-INF/plugin.xml";

/// How the documents describe the hooks' data.
const HOOKS: &Sentences = &[
    ("README.md", "passes each prompt, each answer and each tool call to the companion"),
    ("npm/README.md", "passes each prompt, each answer and each tool call to the companion"),
    ("editors/nvim/README.md", "passes each prompt, each answer and each tool call"),
    (PLUGIN, "passes prompts, answers and tool calls"),
    (
        "docs/architecture/threat-model.md",
        "receives each prompt, each answer, and the arguments and results",
    ),
    (
        "docs/privacy.md",
        "the session's id, the folder, and the path of the CLI's own record of the session. The \
         hook adds the process id of the CLI and, on Linux, the ports of the CLI's connections",
    ),
];

/// How the documents describe the context.
const CONTEXT: &Sentences = &[
    ("rust/companion-protocol/src/ide.rs", "\"the open files, the caret and the selection\""),
    ("rust/companion-protocol/src/stateless.rs", "the context: open files, caret and selection"),
    (
        "rust/companion-protocol/src/stateless.rs",
        "The files that are open in the user's editor, the caret and the selection",
    ),
    ("ARCHITECTURE.md", "| context | open files, caret and selection |"),
    ("README.md", "the last ten open files, the caret, up to 16,384 selected characters"),
    ("docs/privacy.md", "files, by path and the time of their last focus; the caret; up to 16,384"),
    ("docs/privacy.md", "the project's folders, and whether the editor trusts them"),
    ("docs/jetbrains.md", "the files that you open, the caret, and the text that you select"),
    (
        "docs/jetbrains.md",
        "up to ten recent files, the caret, and up to 16,384 selected characters",
    ),
    (BUNDLE, "Up to ten recent files, the caret, and up to 16,384 selected characters"),
    (PLUGIN, "the open files, the caret, the selection"),
    (HELP, "the CLI knows your open files, the cursor and the selection"),
    (HELP, "last used first. For the current file, it also receives the cursor, and the selection"),
];

/// How the documents describe the moments at which a model gets a comment.
const MOMENTS_OF_COMMENTS: &Sentences = &[
    (
        PROTOCOL,
        "the results of tools (Gemini CLI: of one that succeeds), the end of a turn, or a prompt",
    ),
    ("docs/jetbrains.md", "a result of a tool, at the end of the turn, or with your next prompt"),
    (HELP, "with the next result of a tool (of Gemini CLI: one that succeeds)"),
    (HELP, "at the end of its turn, which then goes on once, - with your next prompt."),
    (
        "rust/companion-core/src/conversation.rs",
        "the first that has a result, an end //! of a turn or",
    ),
    ("docs/architecture/bridge.md", "the reason of a rejection, comments to Gemini CLI"),
    ("docs/architecture/bridge.md", "returns reasons, comments, reverts, and for a prompt"),
    ("docs/architecture/bridge.md", "returns comments, once a turn"),
];

/// How the documents describe the notices about a CLI in its terminal.
const NOTICES: &Sentences = &[
    (BUNDLE, "When it asks something, or finishes after ten seconds or more"),
    ("docs/jetbrains.md", "If the CLI asks something in its terminal, other than about a proposal"),
    ("docs/jetbrains.md", "or finishes after ten seconds or more, a notification leads to"),
    ("editors/nvim/README.md", "a message says when it asks something, or ends a long answer"),
    (
        HELP,
        "a CLI asks something in its terminal, except about a proposal, or has finished an answer",
    ),
];

/// Returns the names of the fields or variants of a Rust type, which may be indented.
fn members(file: &str, head: &str) -> Vec<String> {
    let source = read(file);
    let (before, body) = source.split_once(&format!("{head} {{\n")).unwrap();
    let (_, indentation) = before.rsplit_once('\n').unwrap();
    let (body, _) = body.split_once(&format!("\n{indentation}}}")).unwrap();
    let lines = body.lines().map(str::trim).filter(|line| !line.starts_with(['/', '#']));
    let names = lines.map(|line| {
        let line = line.trim_start_matches("pub ");
        line.split([':', ',', '(', ' ']).next().unwrap().to_owned()
    });
    names.collect()
}

/// Checks that a type has these members, and that each document has its sentence.
fn check(sentences: &Sentences, types: &[(&str, &str, &[&str])]) {
    for (file, head, expected) in types {
        assert_eq!(members(file, head), *expected, "{head} has changed: correct {sentences:#?}");
    }
    for (page, sentence) in sentences {
        assert!(words(page).contains(sentence), "{page} lacks: {sentence}");
    }
}

/// A user decides about the extension by these texts. If a hook passes more, all of them change.
#[test]
fn each_page_says_what_the_hooks_pass() {
    const FILE: &str = "rust/companion-protocol/src/hook.rs";
    check(
        HOOKS,
        &[
            (
                FILE,
                "pub struct HookCall<'a>",
                &["file_path", "shown_path", "folder", "corrects_edits", "cli", "event"],
            ),
            (FILE, "pub struct CliProcess", &["id", "ports"]),
            (
                FILE,
                "pub enum HookEventKind",
                &[
                    "BeforeTool",
                    "AfterTool",
                    "BeforeAgent",
                    "AfterAgent",
                    "Notification",
                    "SessionStart",
                    "SessionEnd",
                ],
            ),
        ],
    );
}

/// If the context has a further field, these texts change.
#[test]
fn each_page_says_what_the_context_has() {
    const FILE: &str = "rust/companion-protocol/src/ide.rs";
    check(
        CONTEXT,
        &[
            (FILE, "pub struct WorkspaceState", &["open_files", "is_trusted"]),
            (
                FILE,
                "pub struct OpenFile",
                &["path", "timestamp", "is_active", "cursor", "selected_text"],
            ),
        ],
    );
}

/// If an editor gets a further notification about a CLI, it may be a notice to the user.
#[test]
fn each_page_says_what_an_editor_notifies_its_user_of() {
    let messages =
        members("rust/companion-protocol/src/editor.rs", "pub enum CompanionNotification");
    let of_cli: Vec<_> = messages.iter().filter(|name| name.starts_with("Cli")).collect();
    let known = ["Clients", "CliWaiting", "CliAnswered", "CliFinished", "CliCommand", "CliChanged"];
    assert_eq!(of_cli, known, "a notification was added: correct {NOTICES:#?}");
    check(NOTICES, &[]);
}

/// These sentences change together.
#[test]
fn each_page_says_when_a_model_gets_a_comment() {
    check(MOMENTS_OF_COMMENTS, &[]);
}

/// The Neovim plugin passes these messages on to its user's autocommands and functions.
#[test]
fn the_help_has_all_fields_of_events() {
    let help = read(HELP);
    let (_, help) = help.split_once("The plugin runs |User| autocommands").unwrap();
    let (events, rest) =
        help.split_once("\n\n`data.session` is the id of the CLI session.").unwrap();
    let (_, files) = rest.split_once("Each file has ").unwrap();
    let (files, _) = files.split_once("The events need the companion's extension.").unwrap();
    let types = read("editors/nvim/lua/gemini_companion/types.lua");
    let classes = types.lines().filter_map(|line| line.strip_prefix("---@class GeminiCompanion."));
    let classes = classes.filter(|class| class.starts_with("Cli") || *class == "ChangedFile");
    for class in classes {
        let text = match class.strip_prefix("Cli") {
            Some(event) => {
                let event = format!("\n    GeminiCompanion{event} ");
                let (_, text) = events.split_once(&event).unwrap();
                text.split("\n    GeminiCompanion").next().unwrap()
            }
            None => files,
        };
        let (_, fields) =
            types.split_once(&format!("---@class GeminiCompanion.{class}\n")).unwrap();
        let (fields, _) = fields.split_once("\n\n").unwrap();
        for field in fields.lines() {
            let name = field.trim_start_matches("---@field ").split([' ', '?']).next().unwrap();
            let name = name.trim_matches(['[', ']', '"']);
            let is_there =
                text.contains(&format!("`{name}`")) || text.contains(&format!("`data.{name}`"));
            // The session is the same in all events.
            assert!(is_there || name == "session", "the help lacks the field {name} of {class}");
        }
    }
}

#[test]
fn the_tables_of_the_core_have_each_input_and_output() {
    const FILE: &str = "rust/companion-core/src/companion/io.rs";
    let source = read(FILE);
    for (heading, head) in [
        ("/// | From | Inputs |\n/// | --- | --- |\n", "pub enum Input<'a>"),
        ("/// | For | Outputs |\n/// | --- | --- |\n", "pub enum Output"),
    ] {
        let (_, table) = source.split_once(heading).unwrap();
        let rows = table.lines().take_while(|line| line.starts_with("/// | "));
        let mut listed: Vec<_> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
        let mut known = members(FILE, head);
        known.retain(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(listed, known, "{head}");
    }
}
