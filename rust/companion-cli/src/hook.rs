//! Passes an event of a CLI to the companion, and prints the companion's answer. It decides nothing
//! itself. An error never stops the CLI.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Read, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use companion_client::diagnose::corrects_edits;
use companion_client::discover::{Environment, resolve_to_real_path};
use companion_client::http::{self, Endpoint, HookAnswer, confirm_hook, post_hook};
use companion_platform::SuspendedMark;
use companion_protocol::dialect;
use companion_protocol::hook::{BEGIN_TIMEOUT, HookAck, HookCall, HookReply, MAX_EVENT};
use companion_protocol::jsonrpc::describe;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::timeout;

use crate::find::{FindArgs, Parent, explain, vars};

/// The time between two attempts to reach a companion that does not answer. A companion that runs
/// again clears its mark earlier, unless it has another folder for state, as outside of a container.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);

/// The time for such a companion to begin its answer.
const RETRY_TIMEOUT: Duration = Duration::from_millis(50);

/// Pass an event of Gemini CLI or Qwen Code to the companion, as a hook.
///
/// The CLI runs it through the extension and describes the event on stdin. It prints the companion's
/// answer in the CLI's format: new diagnostics after an edit, and the reason why the user rejected
/// one. It prints nothing if there is no answer, if no editor is connected, or on an error. The exit
/// code is always 0, also after wrong arguments, because a CLI may block the edit for another.
#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// Event of the CLI.
    event: HookMoment,

    #[command(flatten)]
    find: FindArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum HookMoment {
    /// Before a tool changes a file or runs a shell command.
    BeforeTool,
    /// After any tool.
    AfterTool,
    /// Before the model gets a prompt.
    BeforeAgent,
    /// After the model has answered a prompt.
    AfterAgent,
    /// The CLI asks the user something.
    Notification,
}

impl HookMoment {
    /// Maximum time that the CLI waits for the hook.
    fn limit(self) -> Duration {
        Duration::from_millis(match self {
            Self::BeforeTool | Self::BeforeAgent => 1500,
            Self::AfterTool => 3500,
            Self::AfterAgent | Self::Notification => 500,
        })
    }
}

/// The parts of an event that this program reads: the paths of the CLI's system, and the CLI's name
/// of the event.
#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    hook_event_name: String,
    /// Where relative paths begin.
    cwd: Option<PathBuf>,
    #[serde(default)]
    tool_input: ToolInput,
}

#[derive(Default, Deserialize)]
struct ToolInput {
    file_path: Option<String>,
}

/// Runs for at most the limit of the event. If the exit code is not 0, the CLI takes a text on
/// stderr for a reason to block the edit.
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
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answer = runtime.block_on(async { timeout(event.limit(), relay(event, find)).await });
    // Stdin may stay open, or a disk not answer.
    runtime.shutdown_background();
    answer?
}

async fn relay(event: HookMoment, find: FindArgs) -> Result<String, Box<dyn Error>> {
    let found = tokio::task::spawn_blocking(move || {
        prepare(event, find).map_err(|error| error.to_string())
    });
    let (endpoints, call) = found.await??;
    let mut why = String::new();
    for hosts in endpoints.chunk_by(|a, b| (a.port, &a.token) == (b.port, &b.token)) {
        let mark = SuspendedMark::of(hosts[0].port);
        let limit = match mark.as_ref().and_then(SuspendedMark::age) {
            None => BEGIN_TIMEOUT,
            Some(age) if age < RETRY_INTERVAL => {
                why = format!("{} did not answer the last hook", hosts[0].authority());
                continue;
            }
            Some(_) => RETRY_TIMEOUT,
        };
        match post_hook(hosts, call.clone(), limit).await {
            Ok(answer) => {
                answered(mark);
                return output(&answer).await;
            }
            Err(error) => {
                why = explain(&hosts[0].authority(), &error);
                match error {
                    http::Error::Timeout { .. } => suspended(mark.as_ref()),
                    _ => answered(mark),
                }
            }
        }
    }
    Err(why.into())
}

/// Marks a companion that has not shown that it is alive. One that has begun to read a large event or
/// to answer, but is late with the rest, is only slow: the next hook must reach it.
fn suspended(mark: Option<&SuspendedMark>) {
    if let Some(Err(error)) = mark.map(SuspendedMark::set) {
        log::info!("the next hook waits for the companion again: {error}");
    }
}

/// Removes the mark of a companion that answers again.
fn answered(mark: Option<SuspendedMark>) {
    if let Some(mark) = mark.filter(|mark| mark.age().is_some()) {
        mark.clear();
    }
}

/// Returns the text for the CLI. Confirms to the companion that its notes have arrived.
async fn output(answer: &HookAnswer) -> Result<String, Box<dyn Error>> {
    if answer.body.is_empty() {
        return Ok(String::new());
    }
    let HookReply { output, ack } = serde_json::from_slice(&answer.body)?;
    if let Some(ack) = ack {
        let ack = serde_json::to_vec(&HookAck { ack })?;
        confirm_hook(&answer.endpoint, ack.into(), BEGIN_TIMEOUT).await?;
    }
    Ok(ascii(output.get()))
}

/// Reads the event, and finds the companions.
fn prepare(
    event: HookMoment,
    find: FindArgs,
) -> Result<(Vec<Endpoint>, bytes::Bytes), Box<dyn Error>> {
    let mut text = String::new();
    io::stdin().lock().take(MAX_EVENT).read_to_string(&mut text)?;
    // An error of serde could quote the event.
    let invalid = |error| format!("the event is not valid: {}", describe(&error));
    let raw: &RawValue = serde_json::from_str(&text).map_err(invalid)?;
    let Event { cwd, tool_input, hook_event_name } =
        serde_json::from_str(raw.get()).map_err(invalid)?;
    let find = find.or_of_bridge();
    let mapping = find.mapping();
    let endpoints = find.finder(Parent::Shell)?.find()?;
    let cwd = cwd.map_or_else(std::env::current_dir, Ok)?;
    let path = tool_input.file_path.filter(|path| !path.is_empty());
    let path = path.map(|path| resolve_to_real_path(&path, &cwd).to_string_lossy().into_owned());
    let mapped = path.as_deref().and_then(|path| mapping.to_companion(path));
    let (file_path, shown_path) = match mapped {
        Some(mapped) => (Some(mapped), path),
        None => (path, None),
    };
    let client = dialect::hook(&hook_event_name).map(|(client, _)| client);
    let client = client.filter(|_| matches!(event, HookMoment::BeforeTool));
    let corrects_edits =
        client.is_some_and(|client| corrects_edits(&Environment::with_vars(client, vars(), cwd)));
    let call = HookCall { file_path, shown_path, corrects_edits, event: raw };
    Ok((endpoints, serde_json::to_vec(&call)?.into()))
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
    use super::*;

    #[test]
    fn what_a_shell_can_not_spoil() {
        let text = "\"a\n\u{7f}\" é €  😀";
        let json = ascii(&serde_json::to_string(text).unwrap());
        assert!(json.is_ascii());
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
