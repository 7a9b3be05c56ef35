//! Detects the editor of a terminal by the client's rules (`detect-ide.js`).

use companion_platform::process_info;
use companion_protocol::ide::IdeInfo;

use super::Environment;

/// Returns the editor's name for users: the file's, or else the client's guess from the variables.
pub(super) fn detect(environment: &Environment, from_file: Option<&IdeInfo>) -> Option<String> {
    if let Some(info) = from_file {
        return Some(info.display_name.clone());
    }
    if !environment.is_editor_terminal() {
        return None;
    }
    let set = |name: &str| environment.set(name).is_some();
    let terminal = environment.var("TERM_PROGRAM");
    let by_variable = [
        (set("ANTIGRAVITY_CLI_ALIAS"), "Antigravity"),
        (set("__COG_BASHRC_SOURCED"), "Devin"),
        (set("REPLIT_USER"), "Replit"),
        (set("CURSOR_TRACE_ID"), "Cursor"),
        (set("CODESPACES"), "GitHub Codespaces"),
        (set("EDITOR_IN_CLOUD_SHELL") || set("CLOUD_SHELL"), "Cloud Shell"),
        (environment.var("TERM_PRODUCT") == Some("Trae"), "Trae"),
        (set("MONOSPACE_ENV"), "Firebase Studio"),
        (environment.var("POSITRON") == Some("1"), "Positron"),
        (terminal == Some("sublime"), "Sublime Text"),
        (set("ZED_SESSION_ID") || terminal == Some("Zed"), "Zed"),
        (set("XCODE_VERSION_ACTUAL"), "XCode"),
    ];
    if let Some((_, name)) = by_variable.into_iter().find(|(found, _)| *found) {
        return Some(name.to_owned());
    }
    let command = process_info(environment.ide_pid).map_or_else(String::new, |p| p.command);
    let command = command.to_lowercase();
    let name = if is_jetbrains(environment) {
        jetbrains_product(&command)
    } else if command.is_empty() || command.contains("code") {
        "VS Code"
    } else {
        "IDE"
    };
    Some(name.to_owned())
}

fn is_jetbrains(environment: &Environment) -> bool {
    let emulator = environment.var("TERMINAL_EMULATOR");
    emulator.is_some_and(|emulator| emulator.to_lowercase().contains("jetbrains"))
}

fn jetbrains_product(command: &str) -> &'static str {
    let products = [
        ("idea", "IntelliJ IDEA"),
        ("webstorm", "WebStorm"),
        ("pycharm", "PyCharm"),
        ("goland", "GoLand"),
        ("studio", "Android Studio"),
        ("clion", "CLion"),
        ("rustrover", "RustRover"),
        ("datagrip", "DataGrip"),
        ("phpstorm", "PhpStorm"),
    ];
    let product = products.into_iter().find(|(part, _)| command.contains(part));
    product.map_or("JetBrains IDE", |(_, name)| name)
}
