//! Generates completions for shells and the man page from the options of this program.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use companion_setup::Documents;

use crate::args::Args;

const COMPLETIONS_HELP: &str = "\
Where shells read them:
  bash        ~/.local/share/bash-completion/completions/gemini-companion
  fish        ~/.config/fish/completions/gemini-companion.fish
  zsh         _gemini-companion in a folder of $fpath
  PowerShell  add them to the file $PROFILE";

/// Print completions for a shell.
///
/// On Linux and macOS, `gemini-companion setup` installs those for bash and fish.
#[derive(Debug, clap::Args)]
#[command(after_long_help = COMPLETIONS_HELP)]
pub(crate) struct CompletionsArgs {
    /// Shell that reads the completions.
    pub(crate) shell: Shell,
}

/// Returns the texts that setup installs.
pub(crate) fn documents() -> io::Result<Documents> {
    Ok(Documents {
        bash: completions(Shell::Bash)?,
        fish: completions(Shell::Fish)?,
        man: man_page()?,
    })
}

/// Returns the completions for a shell.
pub(crate) fn completions(shell: Shell) -> io::Result<String> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "gemini-companion", &mut script);
    let script = String::from_utf8(script).map_err(io::Error::other)?;
    // For bash, clap_complete 4.6 writes the hyphen of this name in two ways, which must be equal.
    Ok(script.replace("gemini__subcmd__companion", "gemini__companion"))
}

/// Returns one page with a section for each command.
pub(crate) fn man_page() -> io::Result<String> {
    let mut program = Args::command();
    program.build();
    let commands: Vec<_> =
        program.get_subcommands().filter(|command| command.get_name() != "help").cloned().collect();
    let man = Man::new(program);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    for command in commands {
        let name = command.get_name().to_uppercase();
        // It is among the program's own options.
        let man = Man::new(command.mut_arg("log_level", |option| option.hide(true)));
        let mut sections = Vec::new();
        man.render_synopsis_section(&mut sections)?;
        man.render_description_section(&mut sections)?;
        man.render_options_section(&mut sections)?;
        man.render_extra_section(&mut sections)?;
        let sections = String::from_utf8(sections).map_err(io::Error::other)?;
        write!(page, ".SH {name}\n{}", sections.replace(".SH ", ".SS "))?;
    }
    String::from_utf8(page).map_err(io::Error::other)
}
