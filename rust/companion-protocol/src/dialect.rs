//! What tells the clients of this protocol apart: how each finds a companion.
//!
//! They are forks of one program, and speak alike once they are connected. *Invariant:* whatever
//! differs between them is a value in here, and nothing else asks which client it is.

/// How a client finds a companion.
#[derive(Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The environment variables that it reads.
    pub variables: Variables,
    /// The folders in which its discovery files are, each in the one before; the first is in the
    /// folder for temporary files.
    pub folders: &'static [&'static str],
    /// What the names of those files begin with.
    pub file_prefix: &'static str,
    /// A variable by which it takes a terminal for an editor's if no file tells it of an editor,
    /// with the value that has the least other effects.
    pub terminal: (&'static str, &'static str),
}

/// The names of environment variables, which a terminal inside the editor gets.
#[derive(Debug, PartialEq, Eq)]
pub struct Variables {
    /// The port of the server; decides between several windows with the same workspace.
    pub port: &'static str,
    /// The workspace's roots, as in the discovery file.
    pub workspace_path: &'static str,
    /// The bearer token, for when the client finds no discovery file.
    pub auth_token: &'static str,
    /// The editor's process id: the client's own guess, the shell's grandparent, can be wrong.
    pub pid: &'static str,
    /// Set to `1`, it keeps a client in a container at 127.0.0.1; otherwise that looks on the host.
    pub stay_local: &'static str,
    /// A program that the client starts and speaks to on its stdin and stdout, if no port answers.
    pub stdio_command: &'static str,
    /// That program's arguments, as a JSON array.
    pub stdio_args: &'static str,
}

impl Variables {
    /// All of them.
    pub fn names(&self) -> [&'static str; 7] {
        let Self { port, workspace_path, auth_token, pid, stay_local, stdio_command, stdio_args } =
            *self;
        [port, workspace_path, auth_token, pid, stay_local, stdio_command, stdio_args]
    }
}

/// Gemini CLI (`ide-connection-utils.js`, `process-utils.js` and `detect-ide.js` of
/// `@google/gemini-cli-core` 0.61.0).
pub static GEMINI: Dialect = Dialect {
    variables: Variables {
        port: "GEMINI_CLI_IDE_SERVER_PORT",
        workspace_path: "GEMINI_CLI_IDE_WORKSPACE_PATH",
        auth_token: "GEMINI_CLI_IDE_AUTH_TOKEN",
        pid: "GEMINI_CLI_IDE_PID",
        stay_local: "REMOTE_CONTAINERS",
        stdio_command: "GEMINI_CLI_IDE_SERVER_STDIO_COMMAND",
        stdio_args: "GEMINI_CLI_IDE_SERVER_STDIO_ARGS",
    },
    folders: &["gemini", "ide"],
    file_prefix: "gemini-ide-server-",
    terminal: ("TERMINAL_EMULATOR", "JetBrains-JediTerm"),
};

impl Dialect {
    /// The name of the discovery file of an editor's process whose server is at that port.
    pub fn file_name(&self, pid: u32, port: u16) -> String {
        format!("{}{pid}-{port}.json", self.file_prefix)
    }

    /// The name that it had before several servers of one process could be told apart.
    pub fn old_file_name(&self, pid: u32) -> String {
        format!("{}{pid}.json", self.file_prefix)
    }

    /// The numbers in the name of a discovery file, as they are written: the process and, unless
    /// it has the old form, the port.
    pub fn parse_file_name<'a>(&self, name: &'a str) -> Option<(&'a str, Option<&'a str>)> {
        let numbers = name.strip_prefix(self.file_prefix)?.strip_suffix(".json")?;
        let (pid, port) = match numbers.split_once('-') {
            Some((pid, port)) => (pid, Some(port)),
            None => (numbers, None),
        };
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        (is_number(pid) && port.is_none_or(is_number)).then_some((pid, port))
    }
}
