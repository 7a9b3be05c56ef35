//! Defines the profile of each supported client.

use super::{Base, ClientProfile, EnvFiles, Folder, Installation, Mark, Naming, Roots, Variables};
use crate::hook::{HookEventKind, HookProfile, HookSwitches, TrustProfile};

/// The profile of Gemini CLI (`ide-connection-utils.js`, `process-utils.js` and `detect-ide.js` of
/// `@google/gemini-cli-core` 0.61.0).
pub static GEMINI: ClientProfile = ClientProfile {
    id: "gemini",
    name: "Gemini CLI",
    client_names: &["streamable-http-client", "stdio-client"], // `ide-client.js`
    client_version: None,
    empty_is_unchanged_since: Some(61), // `edit.js` and `write-file.js`, `onConfirm`
    variables: Variables {
        port: "GEMINI_CLI_IDE_SERVER_PORT",
        workspace_path: "GEMINI_CLI_IDE_WORKSPACE_PATH",
        auth_token: Some("GEMINI_CLI_IDE_AUTH_TOKEN"),
        pid: Some("GEMINI_CLI_IDE_PID"),
        stay_local: Some("REMOTE_CONTAINERS"),
        stdio_command: "GEMINI_CLI_IDE_SERVER_STDIO_COMMAND",
        stdio_args: "GEMINI_CLI_IDE_SERVER_STDIO_ARGS",
    },
    folder: Folder { base: Base::Temp, names: &["gemini", "ide"] },
    naming: Naming::Process { prefix: "gemini-ide-server-" },
    asks_owner: true,
    roots: Roots::Uris,
    terminals: &[
        Mark::Is("TERM_PROGRAM", "vscode"),
        Mark::Is("TERM_PROGRAM", "sublime"),
        Mark::Is("TERM_PROGRAM", "Zed"),
        Mark::Set("ZED_SESSION_ID"),
        Mark::Set("XCODE_VERSION_ACTUAL"),
        Mark::Contains("TERMINAL_EMULATOR", "jetbrains"),
    ],
    terminal: ("TERMINAL_EMULATOR", "JetBrains-JediTerm"),
    unsupported: "IDE integration is not supported in your current environment. To use this \
                  feature, run Gemini CLI in one of these supported IDEs: Antigravity, VS Code, or \
                  VS Code forks.",
    lost: None,
    hooks: HookProfile {
        events: &[
            (HookEventKind::BeforeTool, "BeforeTool"),
            (HookEventKind::AfterTool, "AfterTool"),
            (HookEventKind::BeforeAgent, "BeforeAgent"),
            (HookEventKind::AfterAgent, "AfterAgent"),
            (HookEventKind::Notification, "Notification"),
            (HookEventKind::SessionStart, "SessionStart"),
            (HookEventKind::SessionEnd, "SessionEnd"),
        ],
        edits: &["write_file", "replace"],
        writes: "write_file",
        command: "run_shell_command",
        // The first describes the calls after it, and the second ends a subagent (`local-executor.js`).
        unread: &["update_topic", "complete_task"],
        confirms_after_hook: true,
        prompts_after_tool: false,
        ends_cancelled_turns: true,
        // `extension-manager.ts`, `settingsSchema.ts`, `trust.js`
        switches: HookSwitches {
            manifest: "gemini-extension.json",
            file: "hooks/hooks.json",
            install_metadata: ".gemini-extension-install.json",
            all: ("hooksConfig.enabled", false),
            names: Some("hooksConfig.disabled"),
            allowed_sources: Some("security.allowedExtensions"),
            servers: Some("mcp-server-enablement.json"), // `mcpServerEnablement.ts`
            all_lists_allow: true,                       // `getConsolidatedAllowedMcpServers`
            safe_mode: None,
            trust: TrustProfile {
                is_enabled: true,
                file: "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
                decides: Some("GEMINI_CLI_TRUST_WORKSPACE"),
                denies: Some("GEMINI_RESTRICTED_MODE"),
                longest_rule_counts: true,
                skips_unknown_rules: false,
            },
        },
    },
    installation: Installation {
        package: "@google/gemini-cli",
        tested: "0.61.0",
        settings: ".gemini",
        home: Some("GEMINI_CLI_HOME"),
        system_settings: "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
        system_folders: [
            "/etc/gemini-cli",
            "/Library/Application Support/GeminiCli",
            "C:\\ProgramData\\gemini-cli",
        ],
        system_defaults: "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
        tool_sandbox: None,
        sandbox: ("GEMINI_SANDBOX", "tools.sandbox"),
        proxies: &["http:", "https:"], // `proxy-agent.js` of undici
        // `DEFAULT_EXCLUDED_ENV_VARS` in `settings.ts`
        ignored_in_env_file: &[
            "GEMINI_CLI_IDE_SERVER_STDIO_COMMAND",
            "GEMINI_CLI_IDE_SERVER_STDIO_ARGS",
        ],
        env_files: EnvFiles::First,
        allows_bom: false,
        resets_settings: false,
        asks_for_root: true, // `loadSystemFile` in `settings.ts`
        no_correction: Some("tools.disableLLMCorrection"), // `settingsSchema.js`
    },
};

/// The profile of Qwen Code (`ide-client.ts`, `detect-ide.ts` and `storage.ts` in the bundle of
/// `@qwen-code/qwen-code` 0.24.4).
pub static QWEN: ClientProfile = ClientProfile {
    id: "qwen",
    name: "Qwen Code",
    client_names: &["streamable-http-client", "stdio-client"], // `ide-client.ts`
    client_version: Some("1.0.0"),
    empty_is_unchanged_since: None,
    variables: Variables {
        port: "QWEN_CODE_IDE_SERVER_PORT",
        workspace_path: "QWEN_CODE_IDE_WORKSPACE_PATH",
        auth_token: None,
        pid: None,
        stay_local: None,
        stdio_command: "QWEN_CODE_IDE_SERVER_STDIO_COMMAND",
        stdio_args: "QWEN_CODE_IDE_SERVER_STDIO_ARGS",
    },
    folder: Folder { base: Base::Own { variable: "QWEN_HOME", name: ".qwen" }, names: &["ide"] },
    naming: Naming::Port { suffix: ".lock", old_prefix: "qwen-code-ide-server-" },
    asks_owner: false,
    roots: Roots::Paths,
    terminals: &[Mark::Is("TERM_PROGRAM", "vscode")],
    terminal: ("TERM_PROGRAM", "vscode"),
    unsupported: "IDE integration is not supported in your current environment. To use this \
                  feature, run Qwen Code in one of these supported IDEs: VS Code or VS Code forks",
    lost: Some(
        "IDE connection error. The connection was lost unexpectedly. Please try reconnecting by \
         running /ide enable",
    ),
    hooks: HookProfile {
        events: &[
            (HookEventKind::BeforeTool, "PreToolUse"),
            (HookEventKind::AfterTool, "PostToolUse"),
            (HookEventKind::AfterTool, "PostToolUseFailure"),
            (HookEventKind::BeforeAgent, "UserPromptSubmit"),
            (HookEventKind::AfterAgent, "Stop"),
            (HookEventKind::Notification, "Notification"),
            (HookEventKind::SessionStart, "SessionStart"),
            (HookEventKind::SessionEnd, "SessionEnd"),
        ],
        edits: &["write_file", "edit", "notebook_edit"],
        writes: "write_file",
        command: "run_shell_command",
        unread: &[],
        confirms_after_hook: false,
        prompts_after_tool: true,
        ends_cancelled_turns: false,
        // `config.ts`, `trustedFolders.ts`
        switches: HookSwitches {
            manifest: "qwen-extension.json",
            file: "hooks/qwen-code.json",
            install_metadata: ".qwen-extension-install.json",
            all: ("disableAllHooks", true),
            names: None,
            allowed_sources: None,
            servers: None,
            all_lists_allow: false,
            safe_mode: Some("QWEN_CODE_SAFE_MODE"),
            trust: TrustProfile {
                is_enabled: false,
                file: "QWEN_CODE_TRUSTED_FOLDERS_PATH",
                decides: None,
                denies: None,
                longest_rule_counts: false,
                skips_unknown_rules: true,
            },
        },
    },
    installation: Installation {
        package: "@qwen-code/qwen-code",
        tested: "0.24.4",
        settings: ".qwen",
        home: None,
        system_settings: "QWEN_CODE_SYSTEM_SETTINGS_PATH",
        system_folders: [
            "/etc/qwen-code",
            "/Library/Application Support/QwenCode",
            "C:\\ProgramData\\qwen-code",
        ],
        system_defaults: "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
        tool_sandbox: Some("tools.executionSandbox"),
        sandbox: ("QWEN_SANDBOX", "tools.sandbox"),
        proxies: &["http:", "https:", "socks:", "socks5:"], // `Socks5ProxyAgent` of undici
        ignored_in_env_file: &[],
        env_files: EnvFiles::FirstAndUsers, // `findEnvFiles` in `environment.ts`
        allows_bom: true,                   // `stripUtf8Bom` in `loadAndMigrate`
        resets_settings: true,              // `loadAndMigrate` in `settings.ts`
        asks_for_root: false,
        no_correction: None,
    },
};
