//! Passes an event of a CLI to the companion, and prints the companion's answer. It decides nothing
//! itself. An error never stops the CLI.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Read, Write as _};
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use companion_client::diagnose::corrects_edits;
use companion_client::discover::{Environment, resolve_path, resolve_to_real_path};
use companion_client::http::{
    self, Endpoint, HookResponse, Stage, block_on, confirm_hook, hook_senders, post_hook,
};
use companion_platform::{Ancestor, SuspendedMark, loopback_ports, real_path, strip_verbatim};
use companion_protocol::hook::{
    BEGIN_TIMEOUT, CliProcess, HookAck, HookCall, HookEventKind, HookReply, MAX_EVENT,
};
use companion_protocol::jsonrpc::describe;
use companion_protocol::profile::{self, Roots};
use companion_protocol::text;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep, timeout};

use crate::find::{FindArgs, Parent, vars};
use crate::programs::{PROGRAM, programs};
use crate::raw::member;

/// The time between two attempts to reach a companion that does not answer. A companion that runs
/// again clears its mark earlier, unless it has another folder for state, as outside of a container.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);

/// The time for the companion to take a confirmation. It saves that before it answers.
const ACK_TIMEOUT: Duration = Duration::from_secs(2);

/// The time between two attempts to confirm to a companion that was killed.
const ACK_INTERVAL: Duration = Duration::from_millis(100);

/// Pass an event of Gemini CLI or Qwen Code to the companion, as a hook.
///
/// The CLI runs it through the extension and describes the event on stdin. It prints the companion's
/// answer in the CLI's format: new diagnostics after an edit, the reason why the user rejected one,
/// comments, the names of unsaved and reverted files, and the request to ask about an edit. It prints
/// nothing if there is no answer, if no editor is connected, or on an error. The exit code is always 0,
/// also after wrong arguments, because a CLI may block the edit for another.
#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// Event of the CLI.
    #[arg(value_parser = event_parser())]
    event: HookEventKind,

    #[command(flatten)]
    find: FindArgs,
}

/// Returns the parser of an event.
fn event_parser() -> impl TypedValueParser<Value = HookEventKind> {
    let values = HookEventKind::ALL.iter().map(|kind| {
        let (argument, help) = argument(*kind);
        PossibleValue::new(argument).help(help)
    });
    PossibleValuesParser::new(values).map(|value| {
        let mut kinds = HookEventKind::ALL.iter().copied();
        kinds.find(|kind| argument(*kind).0 == value).expect("all of these are events")
    })
}

/// Returns an event's argument, and its help.
const fn argument(kind: HookEventKind) -> (&'static str, &'static str) {
    match kind {
        HookEventKind::BeforeTool => {
            ("before-tool", "Before a tool changes a file or runs a shell command")
        }
        HookEventKind::AfterTool => ("after-tool", "After any tool"),
        HookEventKind::BeforeAgent => ("before-agent", "Before the model gets a prompt"),
        HookEventKind::AfterAgent => ("after-agent", "After the model has answered a prompt"),
        HookEventKind::Notification => ("notification", "The CLI asks the user something"),
        HookEventKind::SessionStart => ("session-start", "The CLI begins a session"),
        HookEventKind::SessionEnd => ("session-end", "The CLI ends its session"),
    }
}

/// Returns the maximum time that the CLI waits for the hook.
const fn limit(kind: HookEventKind) -> Duration {
    Duration::from_millis(match kind {
        // The answer waits for the editor.
        HookEventKind::AfterTool => 3500,
        // Most need some milliseconds. On a busy machine they may take longer, and a lost end of a turn
        // would keep the comments in it from the model.
        HookEventKind::BeforeTool
        | HookEventKind::BeforeAgent
        | HookEventKind::AfterAgent
        | HookEventKind::Notification
        | HookEventKind::SessionStart
        | HookEventKind::SessionEnd => 1500,
    })
}

/// Reads a text in an object of objects. A value of another shape does not count.
fn text_in(event: &RawValue, names: &[&str]) -> Option<String> {
    let mut value = event;
    for name in names {
        value = member(value, name)?;
    }
    serde_json::from_str(value.get()).ok()
}

/// The file of the call. Gemini CLI corrects the path that its model has named, so after the call the path
/// in the result counts.
fn path_in(event: &RawValue) -> Option<String> {
    let path = text_in(event, &["tool_response", "returnDisplay", "filePath"])
        .or_else(|| text_in(event, &["tool_input", "file_path"]))
        // The same of Qwen Code's tool for notebooks.
        .or_else(|| text_in(event, &["tool_input", "notebook_path"]))?;
    // Gemini CLI removes NUL characters (`paths.js`).
    Some(path.replace('\0', "")).filter(|path| !path.is_empty())
}

/// Runs for at most the limit of the event. The exit code is always 0: a CLI may take
/// another one, with a text on stderr, for a reason to block the edit.
pub(crate) fn hook(args: HookArgs) -> ExitCode {
    std::panic::set_hook(Box::new(|panic| log::info!("{panic}")));
    match std::panic::catch_unwind(|| answer(args)) {
        Ok(Ok(answer)) => {
            // A CLI that does not read stdout does not need the answer.
            let _ = io::stdout().write_all(answer.as_bytes());
        }
        Ok(Err(why)) => log::info!("no answer: {why}"),
        Err(_) => {}
    }
    ExitCode::SUCCESS
}

/// Returns the companion's answer; may be empty.
fn answer(args: HookArgs) -> Result<String, Box<dyn Error>> {
    let HookArgs { event, find } = args;
    block_on(async {
        let answer = timeout(limit(event), relay(event, find)).await??;
        output(&answer).await
    })
}

async fn relay(event: HookEventKind, find: FindArgs) -> Result<HookResponse, Box<dyn Error>> {
    let found = tokio::task::spawn_blocking(move || {
        prepare(event, find).map_err(|error| error.to_string())
    });
    let prepared = found.await??;
    let mut why = String::new();
    for hosts in of_cli(&prepared.companions, prepared.cli.as_ref()) {
        let mark = SuspendedMark::of(hosts[0].port);
        let age = mark.as_ref().and_then(SuspendedMark::age);
        if age.is_some_and(|age| age < RETRY_INTERVAL) {
            why = format!("{} did not answer the last hook", hosts[0].authority());
            continue;
        }
        match post_hook(hosts, prepared.call(hosts)?.into(), BEGIN_TIMEOUT).await {
            Ok(answer) => {
                answered(mark);
                return Ok(answer);
            }
            Err(error) => {
                why = error.explain(&hosts[0].authority());
                match error {
                    http::Error::Timeout { .. } => suspended(mark, &hosts[0]).await,
                    _ => answered(mark),
                }
            }
        }
    }
    Err(why.into())
}

/// The companions that the event may belong to. The CLI has chosen its companion at
/// its start; by now another one may come first. So if a connection of the CLI leads to one of them, only
/// that one counts.
fn of_cli<'a>(companions: &'a [Vec<Endpoint>], cli: Option<&Ancestor>) -> Vec<&'a Vec<Endpoint>> {
    let companions: Vec<_> = companions.iter().collect();
    let (Some(cli), true) = (cli, companions.len() > 1) else { return companions };
    // Its own connection counts more than one of its bridge, or of its server for diagnostics.
    for child in [None, Some(PROGRAM)] {
        let mut connected = companions.clone();
        connected.retain(|hosts| {
            loopback_ports(cli.pid, child, hosts[0].port).is_some_and(|ports| !ports.is_empty())
        });
        if !connected.is_empty() {
            return connected;
        }
    }
    companions
}

/// The process of the CLI that runs this hook, and its connections to the companion.
fn cli_process(cli: &Ancestor, hosts: &[Endpoint]) -> CliProcess {
    let is_local = |host: &Endpoint| match host.host.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host.host == "localhost",
    };
    let ports = if hosts.iter().all(is_local) {
        loopback_ports(cli.pid, Some(PROGRAM), hosts[0].port)
    } else {
        None
    };
    CliProcess { id: cli.identity.clone(), ports }
}

/// Marks a companion that has not shown that it is alive. One that has begun to read a large event or
/// to answer, but is late with the rest, is only slow: the next hook must reach it.
async fn suspended(mark: Option<SuspendedMark>, endpoint: &Endpoint) {
    let Some(mark) = mark else { return };
    let is_new = mark.age().is_none();
    if let Err(error) = mark.set() {
        log::info!("the next hook waits for the companion again: {error}");
    }
    // It may have run again just before the mark was set, or the network was slow for a moment.
    if is_new && hook_senders(endpoint, BEGIN_TIMEOUT).await.is_ok() {
        mark.clear();
    }
}

/// Removes the mark of a companion that answers again.
fn answered(mark: Option<SuspendedMark>) {
    if let Some(mark) = mark.filter(|mark| mark.age().is_some()) {
        mark.clear();
    }
}

/// Returns the text for the CLI. Confirms to the companion before that it will be printed.
async fn output(answer: &HookResponse) -> Result<String, Box<dyn Error>> {
    if answer.body.is_empty() {
        return Ok(String::new());
    }
    let HookReply { output, ack } = serde_json::from_slice(&answer.body)?;
    if let Some(ack) = ack {
        confirm(&answer.endpoint, &HookAck { ack }).await?;
    }
    Ok(ascii(output.get()))
}

/// Confirms an answer.
///
/// # Errors
/// If the companion has refused it, or does not know of it: then another hook gets the notes, so this
/// one must not print them. A companion that has taken the request, but is suspended, does know.
async fn confirm(endpoint: &Endpoint, ack: &HookAck) -> Result<(), Box<dyn Error>> {
    let ack: bytes::Bytes = serde_json::to_vec(ack)?.into();
    let deadline = Instant::now() + ACK_TIMEOUT;
    let mut was_sent = false;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match confirm_hook(endpoint, ack.clone(), left).await {
            Ok(()) => return Ok(()),
            Err(http::Error::Timeout { stage: Stage::Answer, .. }) if !was_sent => return Ok(()),
            // It was killed. The next one knows whether it had saved the confirmation.
            Err(http::Error::Broken { .. }) => was_sent = true,
            Err(http::Error::Timeout { .. }) if was_sent => {}
            Err(error) if was_sent && error.is_safe_to_retry() => {}
            Err(error) => return Err(error.into()),
        }
        if left < ACK_INTERVAL {
            return Err("the companion was killed before it took the confirmation".into());
        }
        sleep(ACK_INTERVAL).await;
    }
}

/// The call of a hook, but for the process, and the companions that may get it. See [`HookCall`].
struct Prepared {
    /// Each at all its hosts.
    companions: Vec<Vec<Endpoint>>,
    file_path: Option<String>,
    shown_path: Option<String>,
    folder: String,
    corrects_edits: bool,
    event: Box<RawValue>,
    /// The process of the CLI.
    cli: Option<Ancestor>,
}

impl Prepared {
    /// Returns the call to a companion.
    fn call(&self, hosts: &[Endpoint]) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&HookCall {
            file_path: self.file_path.clone(),
            shown_path: self.shown_path.clone(),
            folder: Some(self.folder.clone()),
            corrects_edits: self.corrects_edits,
            cli: self.cli.as_ref().map(|cli| cli_process(cli, hosts)),
            event: &self.event,
        })
    }
}

/// Reads the event, and finds the companions.
fn prepare(kind: HookEventKind, find: FindArgs) -> Result<Prepared, Box<dyn Error>> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_EVENT as u64).read_to_end(&mut bytes)?;
    let json = String::from_utf8_lossy(&bytes);
    let json = text::mend(&json);
    // An error of serde could quote the event.
    let invalid = |error| format!("the event is not valid: {}", describe(&error));
    let event: Box<RawValue> = serde_json::from_str(&json).map_err(invalid)?;
    if !event.get().starts_with('{') {
        return Err("the event is not an object".into());
    }
    let find = find.or_of_bridge();
    let mapping = find.mapping();
    let companions = find.finder(Parent::Shell)?.find()?;
    let cwd = text_in(&event, &["cwd"]).map(PathBuf::from); // where relative paths begin
    let cwd = cwd.map_or_else(std::env::current_dir, Ok)?;
    let name = text_in(&event, &["hook_event_name"]).unwrap_or_default();
    let client = profile::hook(&name).map(|(client, _)| client);
    let resolve = match client.map(|client| client.roots) {
        Some(Roots::Paths) => resolve_path,
        _ => resolve_to_real_path,
    };
    let path = path_in(&event).map(|path| resolve(&path, &cwd).to_string_lossy().into_owned());
    let mapped = path.as_deref().and_then(|path| mapping.to_companion(path));
    let (file_path, shown_path) = match mapped {
        Some(mapped) => (Some(mapped), path),
        None => (path, None),
    };
    let folder = strip_verbatim(real_path(&cwd));
    let folder = folder.to_string_lossy().into_owned();
    let folder = mapping.to_companion(&folder).unwrap_or(folder);
    let client = client.filter(|_| kind == HookEventKind::BeforeTool);
    let corrects_edits =
        client.is_some_and(|client| corrects_edits(&Environment::with_vars(client, vars(), cwd)));
    let cli = programs().into_iter().next();
    Ok(Prepared { companions, file_path, shown_path, folder, corrects_edits, event, cli })
}

/// Returns JSON in ASCII, so that no shell can misread it: Windows PowerShell reads the output of
/// programs in the code page of the console.
fn ascii(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() {
            escaped.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::fs;

    use serde::Deserialize;

    use super::*;

    #[test]
    fn the_extension_runs_the_hook_of_each_event() {
        #[derive(Deserialize)]
        struct Command {
            command: String,
            timeout: u32,
        }
        #[derive(Deserialize)]
        struct Group {
            hooks: Vec<Command>,
        }
        #[derive(Deserialize)]
        struct Extension {
            hooks: HashMap<String, Vec<Group>>,
        }

        for client in profile::ALL {
            // Gemini CLI counts in milliseconds.
            let is_gemini = client.id == profile::GEMINI.id;
            let unit = Duration::from_millis(if is_gemini { 1 } else { 1000 });
            let file = format!("../../extension/{}", client.hooks.switches.file);
            let text = fs::read_to_string(&file).unwrap();
            let Extension { hooks } = serde_json::from_str(&text).unwrap();
            let mut missing = client.hooks.events.to_vec();
            for (name, groups) in hooks {
                let kind = client.hooks.event_kind(&name).unwrap();
                let run = format!("gemini-companion hook {} ", argument(kind).0);
                missing.retain(|(_, event)| *event != name);
                for Command { command, timeout } in groups.into_iter().flat_map(|group| group.hooks)
                {
                    assert!(command.starts_with(&run), "{file}, {name}: {command}");
                    let more = (unit * timeout).saturating_sub(limit(kind));
                    assert!(!more.is_zero() && more < Duration::from_mins(1), "{file}, {name}");
                }
            }
            assert!(missing.is_empty(), "{file} runs no hook for {missing:?}");
        }
    }

    #[test]
    fn each_event_is_one_of_a_client_and_in_the_table_of_moments() {
        let page = include_str!("../../../docs/architecture/bridge.md");
        let (_, table) = page.split_once("| Moment |").unwrap();
        let (table, _) = table.split_once("\n\n").unwrap();
        let mut unknown = HookEventKind::ALL.to_vec();
        for (kind, name) in profile::ALL.iter().flat_map(|client| client.hooks.events) {
            assert!(table.contains(name), "docs/architecture/bridge.md has no moment for {name}");
            unknown.retain(|of| of != kind);
        }
        assert!(unknown.is_empty(), "no client has {unknown:?}");
    }

    #[test]
    fn the_page_about_privacy_says_what_a_cli_describes_at_each_event() {
        let page = include_str!("../../../docs/privacy.md");
        for kind in HookEventKind::ALL {
            let moment = match kind {
                HookEventKind::BeforeAgent => "you send a prompt",
                HookEventKind::BeforeTool => "before an edit or a shell command",
                HookEventKind::AfterTool => "after any tool",
                HookEventKind::AfterAgent => "the end of an answer",
                HookEventKind::Notification => "a question in the terminal",
                HookEventKind::SessionStart | HookEventKind::SessionEnd => {
                    "a session begins or ends"
                }
            };
            let row = format!("\n| {moment} | ");
            assert!(page.contains(&row), "docs/privacy.md has no row for {kind:?}");
        }
    }

    #[test]
    fn what_a_shell_can_not_spoil() {
        let text = "\"a\n\u{7f}\" é €  😀";
        let json = ascii(&serde_json::to_string(text).unwrap());
        assert!(json.is_ascii());
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
