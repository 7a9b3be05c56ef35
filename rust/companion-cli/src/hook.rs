//! Reports the new diagnostics of an edit to the model. The CLI runs it before and after each edit.
//! An error never stops the edit.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Read, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout_at};

use crate::diagnostics::{CLOSE_TIMEOUT, Companions, Question};
use crate::find::{FindArgs, Parent};

/// Maximum size of the CLI's event in bytes. It contains the whole text of the edit.
const MAX_INPUT: u64 = 64 << 20;

/// Report new diagnostics after an edit, as a hook of Gemini CLI or Qwen Code.
///
/// The CLI runs it through the extension and describes the edit on stdin. After the edit, it prints
/// the file's new diagnostics in the CLI's format. It prints nothing if there are none, if no editor
/// is connected, or on an error. The exit code is always 0.
#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    /// Time of the call.
    moment: Moment,

    #[command(flatten)]
    find: FindArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Moment {
    /// Remember the existing diagnostics.
    BeforeEdit,
    /// Print the new diagnostics.
    AfterEdit,
}

impl Moment {
    /// Maximum time that the CLI waits for the hook.
    fn limit(self) -> Duration {
        match self {
            Self::BeforeEdit => Duration::from_secs(1),
            Self::AfterEdit => Duration::from_secs(3),
        }
    }
}

/// The CLI's description of a tool call.
#[derive(Debug, Deserialize)]
struct Event<'a> {
    /// The name that the CLI gives the moment.
    hook_event_name: String,
    /// The base of relative paths.
    cwd: Option<PathBuf>,
    tool_input: Edit,
    /// The tool's response, after the call.
    #[serde(borrow)]
    tool_response: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct Edit {
    file_path: PathBuf,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Event<'_> {
    /// Returns whether the edit failed. Gemini CLI calls hooks after failures as well.
    fn has_failed(&self) -> bool {
        let response = self.tool_response.map(|raw| serde_json::from_str(raw.get()));
        response.is_some_and(|read| read.is_ok_and(|Response { error }| error.is_some()))
    }
}

/// Text that the CLI adds to the tool's result.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    hook_specific_output: HookSpecificOutput<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookSpecificOutput<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

/// Runs for at most the limit of the moment. If the exit code is not 0, the CLI takes a text on
/// stderr as a reason to block the edit.
pub(crate) fn hook(args: HookArgs) -> ExitCode {
    std::panic::set_hook(Box::new(|panic| log::info!("{panic}")));
    match std::panic::catch_unwind(|| told(args)) {
        Ok(Ok(output)) => {
            // A CLI that does not read stdout does not need the answer.
            let _ = io::stdout().write_all(output.as_bytes());
        }
        Ok(Err(why)) => log::info!("nothing is told: {why}"),
        Err(_) => {}
    }
    ExitCode::SUCCESS
}

/// Returns the new diagnostics as text; may be empty.
fn told(args: HookArgs) -> Result<String, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let told = runtime.block_on(async {
        let deadline = Instant::now() + args.moment.limit();
        timeout_at(deadline, run(args, deadline - CLOSE_TIMEOUT)).await
    });
    // Stdin may stay open, or the disk may not answer.
    runtime.shutdown_background();
    told?
}

async fn run(
    HookArgs { moment, find }: HookArgs,
    deadline: Instant,
) -> Result<String, Box<dyn Error>> {
    let text = tokio::task::spawn_blocking(read).await??;
    let event: Event<'_> = serde_json::from_str(&text)?;
    if event.has_failed() {
        return Err("the edit was not made".into());
    }
    let cwd = event.cwd.map_or_else(std::env::current_dir, Ok)?;
    let companions = Companions::new(find, Parent::Shell, cwd)?;
    let only_new = matches!(moment, Moment::AfterEdit);
    let question = Question { path: Some(event.tool_input.file_path), severity: None, only_new };
    let told = companions.ask(&question, deadline).await?;
    let is_new = told.report.files.iter().any(|file| !file.found.diagnostics.is_empty());
    if !only_new || !is_new {
        return Ok(String::new());
    }
    let text = format!("The user's editor shows these problems after the edit:\n{}", told.text);
    let output = Output {
        hook_specific_output: HookSpecificOutput {
            hook_event_name: &event.hook_event_name,
            additional_context: &text,
        },
    };
    Ok(ascii(&serde_json::to_string(&output)?))
}

fn read() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().lock().take(MAX_INPUT).read_to_string(&mut text)?;
    Ok(text)
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

    #[test]
    fn an_edit_that_failed_is_told_from_one_that_was_made() {
        for (response, failed) in [
            (r#"{"llmContent":"ok","returnDisplay":{"error":"x"}}"#, false),
            (r#"{"llmContent":"no","error":{"type":"file_write_failure"}}"#, true),
            (r#"{"error":null}"#, false),
            (r#""a text""#, false),
            ("null", false),
        ] {
            let text = format!(
                r#"{{"hook_event_name":"AfterTool","tool_input":{{"file_path":"a"}},"tool_response":{response}}}"#
            );
            let event: Event<'_> = serde_json::from_str(&text).unwrap();
            assert_eq!(event.has_failed(), failed, "{response}");
        }
    }
}
