//! Prints the changes of CLIs, by prompt.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use companion_client::http::{self, Endpoint, block_on};
use companion_protocol::changes::{ChangeList, FileChange, PromptChanges, VERSION};
use companion_protocol::editor::ChangeKind;
use companion_protocol::ide::log_line;
use tokio::task::JoinSet;

use crate::find::{FindArgs, Parent};
use crate::output;
use crate::serve::folder;

/// The time for a companion to show that it is not suspended.
const SIGN_TIMEOUT: Duration = Duration::from_secs(3);

/// The time for a companion to compare all texts.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);

const CHANGES_HELP: &str = "\
The text is also a patch for git apply and patch. To revert the last prompt, if you have
changed none of its files since, run in the project's root:

  gemini-companion changes --prompt last | git apply -R -p1

The model does not learn of that. Files without a diff stay as they are. The list has all folders
and Git worktrees of the editor's project; the names in a diff begin at the folder of its file.

--json prints an object with a version and the prompts, which have session, prompt, title, time (ms
since 1970) and files. Each file has:

  path, relativePath  absolute, and from the root of its folder
  kind                changed, created or deleted
  added, removed      lines, if they are known
  diff                a unified diff, if the companion has the texts
  revertible          the text from before is kept
  reverted            you have reverted the change; the text then has no diff of it
  private             the file is private, so there is no diff
  mixed               you or another program may have changed the file during the prompt";

/// Print the changes of the CLIs in this folder, by prompt.
///
/// It asks the running companions of the folder, which keep the list for up to one day. The oldest prompt is
/// first. The output contains the first lines of your prompts and the text of your files, but no text
/// of a private file.
///
/// Exit code: 0 if the list was printed, even if it is empty; 2 after wrong arguments; otherwise 1, as
/// without a running companion, or if the project shares nothing or no prompt has that number.
#[derive(Debug, clap::Args)]
#[command(after_long_help = CHANGES_HELP)]
pub(crate) struct ChangesArgs {
    /// Folder that the CLI runs in.
    #[arg(long, value_name = "DIR", default_value = ".")]
    workspace: PathBuf,

    /// Number of a prompt in the list, or last [default: all prompts].
    #[arg(long, value_name = "PROMPT", value_parser = selected)]
    prompt: Option<Selected>,

    /// Print the names of files and the numbers of lines, but no diff.
    #[arg(long, conflicts_with = "json")]
    stat: bool,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A prompt that the user has selected.
#[derive(Clone, Copy, Debug)]
enum Selected {
    Last,
    Number(u64),
}

fn selected(text: &str) -> Result<Selected, &'static str> {
    match text.parse() {
        Ok(number) => Ok(Selected::Number(number)),
        Err(_) if text == "last" => Ok(Selected::Last),
        Err(_) => Err("it is neither a number nor last"),
    }
}

/// Prints the changes that all companions of the folder have listed.
pub(crate) fn changes(args: &ChangesArgs) -> Result<ExitCode, Box<dyn Error>> {
    let find = FindArgs::in_folder(folder(&args.workspace)?);
    let companions = find.finder(Parent::Shell)?.find()?;
    let mut prompts = block_on(ask_all(companions))?;
    prompts.sort_by_key(|prompt| prompt.time);
    if let Some(selected) = args.prompt {
        prompts = select(prompts, selected)?;
    }
    let list = ChangeList { version: VERSION, prompts };
    let text = if args.json {
        output::json(&list)?
    } else {
        let text = text(&list.prompts, args.stat, SystemTime::now());
        // A file of the project must not control the user's terminal.
        if io::stdout().is_terminal() { output::escaped(&text) } else { text }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Asks all companions at the same time. Only one of them has the events of a CLI, but not always the
/// one that the next CLI would choose.
async fn ask_all(companions: Vec<Vec<Endpoint>>) -> Result<Vec<PromptChanges>, Box<dyn Error>> {
    let mut asked: JoinSet<_> = companions.into_iter().map(ask).collect();
    let mut prompts = None;
    let mut missing = Vec::new();
    while let Some(answer) = asked.join_next().await {
        match answer? {
            Ok(more) => prompts.get_or_insert_with(Vec::new).extend(more),
            Err(why) => missing.push(why),
        }
    }
    // The best reason is that of a companion which runs.
    missing.sort_by_key(|why| !why.is_notable);
    let Some(prompts) = prompts else {
        return Err(missing.swap_remove(0).text.into());
    };
    for why in missing.iter().filter(|why| why.is_notable) {
        log::warn!("the list is not complete: {}", why.text);
    }
    Ok(prompts)
}

/// Why a companion gives no list.
struct Missing {
    text: String,
    /// Whether the companion may have a list.
    is_notable: bool,
}

/// Asks a companion at the first of its hosts where it answers.
async fn ask(hosts: Vec<Endpoint>) -> Result<Vec<PromptChanges>, Missing> {
    let mut missing = Missing { text: String::new(), is_notable: false };
    for endpoint in hosts {
        let authority = endpoint.authority();
        let list = match http::hook_senders(&endpoint, SIGN_TIMEOUT).await {
            Err(error) if error.is_absence() => Err(error),
            _ => http::changes(&endpoint, ANSWER_TIMEOUT).await,
        };
        let (text, is_notable) = match list {
            Ok(list) if list.version == VERSION => return Ok(list.prompts),
            Ok(_) => {
                let why = "has another version than this program; restart the editor";
                (format!("{authority} {why}"), true)
            }
            Err(http::Error::Forbidden { message }) => (message, true),
            Err(http::Error::Status { status: 404, .. }) => {
                (format!("{authority} is older than this program; restart the editor"), true)
            }
            Err(error @ http::Error::Timeout { .. }) => {
                (format!("{error}. Its editor may be suspended"), true)
            }
            Err(error) => (error.explain(&authority), false),
        };
        if is_notable || missing.text.is_empty() {
            missing = Missing { text, is_notable };
        }
    }
    Err(missing)
}

fn select(
    mut prompts: Vec<PromptChanges>,
    selected: Selected,
) -> Result<Vec<PromptChanges>, String> {
    match selected {
        Selected::Last => prompts.drain(..prompts.len().saturating_sub(1)).for_each(drop),
        Selected::Number(number) => {
            prompts.retain(|prompt| prompt.prompt == number);
            match prompts.len() {
                0 => {
                    return Err(format!(
                        "prompt {number} has changed no file, or has left the list; see \
                         gemini-companion changes --stat"
                    ));
                }
                1 => {}
                count => {
                    return Err(format!(
                        "{count} editors have this folder open, and each has a prompt {number}; close \
                         the others, or take the patch from the whole list"
                    ));
                }
            }
        }
    }
    Ok(prompts)
}

/// Returns the list as text. Only the diffs have lines that `patch` reads.
fn text(prompts: &[PromptChanges], is_short: bool, now: SystemTime) -> String {
    if prompts.is_empty() {
        return "No changes.\n".to_owned();
    }
    let mut text = String::new();
    for PromptChanges { prompt, title, time, files, .. } in prompts {
        if !text.is_empty() {
            text.push('\n');
        }
        let age = now.duration_since(UNIX_EPOCH + Duration::from_millis(*time));
        let age = age_text(age.unwrap_or_default());
        let _ = writeln!(text, "Prompt {prompt}, {age}: {}", log_line(title));
        for file in files {
            let _ = writeln!(text, "  {}", describe(file));
            // A change that is reverted already would make the whole patch fail.
            let is_left_out = is_short || file.file.reverted;
            if let Some(diff) = file.diff.as_deref().filter(|_| !is_left_out) {
                text.push_str(diff);
            }
        }
    }
    text
}

fn describe(change: &FileChange) -> String {
    let FileChange { file, relative_path, diff } = change;
    let kind = match file.kind {
        ChangeKind::Changed => "changed",
        ChangeKind::Created => "created",
        ChangeKind::Deleted => "deleted",
    };
    let mut text = format!("{kind} {}", log_line(relative_path));
    if let (Some(added), Some(removed)) = (file.added, file.removed) {
        let _ = write!(text, " +{added} -{removed}");
    }
    for (is_so, remark) in [
        (file.reverted, "reverted"),
        (file.private, "private, so there is no diff"),
        (!file.private && diff.is_none(), "its text is not available"),
        (file.mixed, "perhaps not only by the CLI"),
    ] {
        if is_so {
            let _ = write!(text, " ({remark})");
        }
    }
    text
}

fn age_text(age: Duration) -> String {
    match age.as_secs() / 60 {
        0 => "just now".to_owned(),
        minutes @ 1..60 => format!("{minutes} min ago"),
        minutes => format!("{} h ago", minutes / 60),
    }
}
