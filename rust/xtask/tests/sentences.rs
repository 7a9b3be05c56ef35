//! Compares what users read in several places, or beside the types of the code.

use crate::common::read;

/// A user decides about the extension by these texts. If a hook passes more, all of them change.
#[test]
fn each_page_says_what_the_hooks_pass() {
    for (page, sentence) in [
        ("README.md", "passes each prompt, each answer and each tool call to the companion"),
        ("npm/README.md", "passes each prompt, each answer and each tool call to the companion"),
        ("editors/nvim/README.md", "passes each prompt, each answer and each tool call"),
        (
            "plugin-kotlin/src/current/resources/META-INF/plugin.xml",
            "passes prompts, answers and tool calls",
        ),
        (
            "docs/architecture/threat-model.md",
            "receives each prompt, each answer, and the arguments and results",
        ),
    ] {
        let text = read(page);
        let words: Vec<_> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(sentence), "{page} lacks: {sentence}");
    }
}

/// The Neovim plugin passes these messages on to its user's autocommands and functions.
#[test]
fn the_help_has_all_fields_of_changes() {
    let help = read("editors/nvim/doc/gemini_companion.txt");
    let (_, help) = help.split_once("*GeminiCompanionChanged*").unwrap();
    let (help, _) = help.split_once("The events need the companion's extension.").unwrap();
    let types = read("editors/nvim/lua/gemini_companion/types.lua");
    for class in ["CliChanged", "ChangedFile"] {
        let (_, fields) =
            types.split_once(&format!("---@class GeminiCompanion.{class}\n")).unwrap();
        let (fields, _) = fields.split_once("\n\n").unwrap();
        for field in fields.lines() {
            let name = field.trim_start_matches("---@field ").split([' ', '?']).next().unwrap();
            let name = name.trim_matches(['[', ']', '"']);
            let is_there =
                help.contains(&format!("`{name}`")) || help.contains(&format!("`data.{name}`"));
            assert!(is_there, "the help lacks the field {name} of {class}");
        }
    }
}
