//! Parses command lines of docker, podman and nerdctl, to add options to them.

use std::ffi::OsString;
use std::path::Path;

/// The kinds of container programs, by their differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// docker: `host.docker.internal` needs an option.
    Docker,
    /// nerdctl, which needs the option, too. The name has another address.
    Nerdctl,
    /// podman, which defines that name itself since 4.7.
    Podman,
}

/// The action on a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// `run` or `create`: all options are possible.
    Run,
    /// `compose run`: the compose file has the other options.
    ComposeRun,
    /// `exec`: the container exists already.
    Exec,
}

/// A bind mount from the user's command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// The path on the host, as the user wrote it.
    pub(super) source: String,
    /// The path in the container.
    pub(super) target: String,
    pub(super) is_read_only: bool,
}

impl Mount {
    /// Whether the source is a path, and not the name of a volume.
    pub(super) fn is_of_path(&self) -> bool {
        self.source.starts_with(['/', '.'])
    }
}

/// A parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Invocation {
    pub(super) engine: Engine,
    pub(super) verb: Verb,
    pub(super) words: Vec<OsString>,
    /// The position for further options: right after the verb.
    pub(super) insert_at: usize,
    /// The value of the last `--network`.
    pub(super) network: Option<String>,
    pub(super) mounts: Vec<Mount>,
    /// The working folder, if the user sets it.
    pub(super) workdir: Option<String>,
    /// Whether the user's command defines `host.docker.internal`.
    pub(super) host_entry: bool,
    /// Whether the container uses the network of a pod.
    pub(super) pod: bool,
}

/// Options before the verb without a value. All other options have one.
const GLOBAL_FLAGS: &str = "
    -D --debug --tls --tlsverify -r --remote --syslog --noout --trace --transient-store --debug-full
    --experimental --insecure-registry --kube-hide-dupe --all-resources --compatibility --dry-run
    --verbose -v --version";

/// Options of `run`, `create` and `exec` without a value. All other options have one.
const FLAGS: &str = "
    --detach --interactive --tty --publish-all --rm --init --privileged --read-only --no-healthcheck
    --oom-kill-disable --disable-content-trust --sig-proxy --quiet --help --use-api-socket --replace
    --rmi --no-hosts --no-hostname --passwd --tls-verify --http-proxy --env-host --unsetenv-all
    --read-only-tmpfs --rootfs";

/// The one-letter options without a value.
const SHORT_FLAGS: &str = "ditPq";

impl Invocation {
    /// Parses a command line, which must not be empty.
    pub(super) fn parse(words: &[OsString]) -> Result<Self, String> {
        // The options to find are in ASCII. Other words may be names of files in any encoding.
        let texts: Vec<_> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let (engine, composes) = engine(&texts[0])?;
        let mut at = 1;
        let mut verb = verb(&texts, &mut at)?;
        let mut composes = composes;
        if verb == "compose" {
            composes = true;
            verb = self::verb(&texts, &mut at)?;
        } else if verb == "container" {
            verb = self::verb(&texts, &mut at)?;
        }
        let verb = match (verb, composes) {
            ("run" | "create", false) => Verb::Run,
            ("run", true) => Verb::ComposeRun,
            ("exec", _) => Verb::Exec,
            (other, _) => {
                return Err(format!(
                    "{other} takes no environment variables; use run, create, exec or compose run"
                ));
            }
        };
        let mut invocation = Self {
            engine,
            verb,
            words: words.to_vec(),
            insert_at: at,
            network: None,
            mounts: Vec::new(),
            workdir: None,
            host_entry: false,
            pod: false,
        };
        if verb == Verb::Run {
            invocation.take_options(&texts[at..]);
        }
        Ok(invocation)
    }

    /// Reads the options up to the image.
    fn take_options(&mut self, words: &[String]) {
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if let Some(long) = word.strip_prefix("--") {
                match long.split_once('=') {
                    _ if long.is_empty() => return,
                    Some((name, value)) => self.option(&format!("--{name}"), value),
                    None if is_in(FLAGS, word) => {}
                    None => self.option(word, rest.next().map_or("", String::as_str)),
                }
            } else if let Some(short) = word.strip_prefix('-').filter(|short| !short.is_empty()) {
                let flags = short.find(|c| !SHORT_FLAGS.contains(c));
                let Some(flags) = flags.filter(|at| !short[*at..].starts_with('=')) else {
                    continue;
                };
                let name = short[flags..].chars().next().unwrap_or_default();
                let value = &short[flags + name.len_utf8()..];
                let value = match value.strip_prefix('=').unwrap_or(value) {
                    "" => rest.next().map_or("", String::as_str),
                    value => value,
                };
                self.option(&format!("-{name}"), value);
            } else {
                return;
            }
        }
    }

    fn option(&mut self, name: &str, value: &str) {
        match name {
            "--network" | "--net" => self.network = Some(value.to_owned()),
            "--pod" => self.pod = true,
            "-w" | "--workdir" => self.workdir = Some(value.to_owned()),
            "--add-host" => {
                let names = value.split([':', '=']).next().unwrap_or_default();
                self.host_entry |= names.split(';').any(|name| name == "host.docker.internal");
            }
            "-v" | "--volume" => self.mounts.extend(volume(value)),
            "--mount" => self.mounts.extend(mount(value)),
            _ => {}
        }
    }
}

fn engine(program: &str) -> Result<(Engine, bool), String> {
    let name = Path::new(program).file_stem().unwrap_or_default().to_string_lossy();
    match &*name {
        "docker" => Ok((Engine::Docker, false)),
        "nerdctl" => Ok((Engine::Nerdctl, false)),
        "podman" => Ok((Engine::Podman, false)),
        "docker-compose" => Ok((Engine::Docker, true)),
        "podman-compose" => Ok((Engine::Podman, true)),
        "sudo" | "doas" => Err(format!(
            "{name} removes the environment, which carries the token. Add yourself to the docker \
             group, or use podman"
        )),
        _ => Err(format!(
            "unsupported program {program}: use docker, podman or nerdctl. For others: \
             gemini-companion env --format docker"
        )),
    }
}

fn is_in(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|one| one == word)
}

/// Returns the next word that is not an option, and moves `at` behind it.
fn verb<'a>(words: &'a [String], at: &mut usize) -> Result<&'a str, String> {
    while let Some(word) = words.get(*at) {
        *at += 1;
        if !word.starts_with('-') {
            return Ok(word);
        }
        if !word.contains('=') && !is_in(GLOBAL_FLAGS, word) {
            *at += 1;
        }
    }
    Err(format!("{} needs a command, such as run", words[0]))
}

/// Parses `source:target`, with or without options. A name in place of a path is a volume, not a
/// folder.
fn volume(value: &str) -> Option<Mount> {
    let mut parts = value.split(':');
    let (source, target) = (parts.next()?, parts.next()?);
    let is_read_only = parts.flat_map(|modes| modes.split(',')).any(|mode| mode == "ro");
    Some(Mount { source: source.to_owned(), target: target.to_owned(), is_read_only })
}

/// Parses `type=bind,source=…,target=…`.
fn mount(value: &str) -> Option<Mount> {
    let fields = fields(value);
    let fields = fields.iter().map(|field| field.split_once('=').unwrap_or((field, "")));
    let field = |names: &[&str]| {
        let mut fields = fields.clone();
        fields.find_map(|(name, value)| names.contains(&name).then(|| value.to_owned()))
    };
    let target = field(&["target", "dst", "destination"])?;
    let source = field(&["source", "src"]).unwrap_or_default();
    let is_read_only =
        field(&["ro", "readonly"]).is_some_and(|value| !["false", "0"].contains(&&*value));
    Some(Mount { source, target, is_read_only })
}

/// Splits a list at its commas. A field in quotes may contain commas, and two quotes in place of one.
fn fields(list: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut rest = list.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if is_quoted && rest.next_if_eq(&'"').is_some() => {}
            '"' => {
                is_quoted = !is_quoted;
                continue;
            }
            ',' if !is_quoted => {
                fields.push(String::new());
                continue;
            }
            _ => {}
        }
        fields.last_mut().expect("there is one").push(c);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Invocation, String> {
        Invocation::parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_go_right_after_the_verb() {
        for (line, engine, verb, insert_at) in [
            ("docker run image", Engine::Docker, Verb::Run, 2),
            ("/usr/bin/podman create -it image", Engine::Podman, Verb::Run, 2),
            ("docker --context far -D -H=unix:///x run image", Engine::Docker, Verb::Run, 6),
            ("docker container run image", Engine::Docker, Verb::Run, 3),
            ("nerdctl -n k8s run image", Engine::Nerdctl, Verb::Run, 4),
            ("docker exec -it name sh", Engine::Docker, Verb::Exec, 2),
            ("docker container exec name sh", Engine::Docker, Verb::Exec, 3),
            ("docker compose -f a.yml --dry-run run --rm app", Engine::Docker, Verb::ComposeRun, 6),
            ("docker-compose run app", Engine::Docker, Verb::ComposeRun, 2),
            ("podman compose exec app sh", Engine::Podman, Verb::Exec, 3),
        ] {
            let found = parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(
                (found.engine, found.verb, found.insert_at),
                (engine, verb, insert_at),
                "{line}"
            );
        }
    }

    #[test]
    fn an_error_says_why_a_command_is_not_supported() {
        for (line, message) in [
            ("docker", "docker needs a command"),
            ("docker --context run", "docker needs a command"),
            ("docker build .", "build takes no environment variables"),
            ("docker compose up", "up takes no environment variables"),
            ("sudo docker run image", "sudo removes the environment"),
            ("kubectl run x", "unsupported program kubectl"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.starts_with(message), "{line}: {error}");
        }
    }

    #[test]
    fn what_the_user_says_is_seen_up_to_the_image() {
        let all = "docker run --rm -itv /a:/b --name x -w/c -v=d:/e:ro --mount=type=bind,src=/f,dst=/g \
                   --net host -e A=b --add-host host.docker.internal:1.2.3.4 image -w /h -v /i:/j";
        let found = parse(all).unwrap();
        let mounts: Vec<_> =
            found.mounts.iter().map(|one| (one.source.as_str(), one.target.as_str())).collect();
        assert_eq!(mounts, [("/a", "/b"), ("d", "/e"), ("/f", "/g")]);
        let read_only: Vec<_> = found.mounts.iter().map(|one| one.is_read_only).collect();
        assert_eq!(read_only, [false, true, false]);
        assert_eq!(found.network.as_deref(), Some("host"));
        assert_eq!(found.workdir.as_deref(), Some("/c"));
        assert!(found.host_entry && !found.pod);

        for line in [
            "docker run image -w /h --network host -v /a:/b",
            "docker run --rm image --workdir=/h --add-host host.docker.internal:1",
            "docker run -it -- image -w /h",
            "docker run --tty=false -d=true image -w /h",
            "docker run --label -w image --pod x",
        ] {
            let Invocation { network, mounts, workdir, host_entry, pod, .. } = parse(line).unwrap();
            assert_eq!(
                (network, mounts, workdir, host_entry, pod),
                (None, Vec::new(), None, false, false),
                "{line}"
            );
        }
    }

    #[test]
    fn a_mount_may_have_any_name() {
        for (value, source, target) in [
            ("type=bind,source=/a,target=/b", "/a", "/b"),
            (r#"type=bind,"source=/a,""b",target=/c"#, r#"/a,"b"#, "/c"),
            (r#"target=/c,type=bind,"src=/a=,readonly""#, "/a=,readonly", "/c"),
            (r#""source=/a b","dst=/,"#, "/a b", "/,"),
        ] {
            let words = ["docker", "run", "--mount", value, "image"].map(OsString::from);
            let found = Invocation::parse(&words).unwrap().mounts;
            let (source, target) = (source.to_owned(), target.to_owned());
            assert_eq!(found, [Mount { source, target, is_read_only: false }], "{value}");
        }
    }
}
