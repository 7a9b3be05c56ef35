//! Adds options to a container command. Its only IO is to check folders.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use companion_platform::{Platform, relative_to, shared_git_folder};
use companion_protocol::profile::Folder;

use super::command::{Engine, Invocation, Mount, Verb};
use crate::running::{Running, Variables, container_marks};

/// The path of the bridge in a container.
const PROGRAM: &str = "/opt/gemini-companion/gemini-companion";

/// The folder for temporary files in a container, with the companion's discovery file.
const TEMP_DIR: &str = "/opt/gemini-companion/tmp";

/// The user's options, and facts about the companion.
#[derive(Debug)]
pub(super) struct ContainerOptions {
    /// The user's current folder, and the working folder of the container's command.
    pub(super) folder: PathBuf,
    /// The program to mount as a bridge.
    pub(super) bridge: Option<PathBuf>,
    /// Whether only this machine can reach the companion.
    pub(super) loopback_only: bool,
    /// Whether `SELinux` denies containers every mount without a label.
    pub(super) needs_labels: bool,
}

/// The command to start.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) words: Vec<OsString>,
    pub(super) variables: Variables,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
}

/// Adds the missing options to the user's command.
pub(super) fn prepare(
    invocation: &Invocation,
    running: &[Running],
    options: &ContainerOptions,
) -> Result<Prepared, String> {
    let network = Network::of(invocation);
    let mut notes = network.notes(invocation, options.loopback_only);
    let mut flags = Vec::new();
    let mut mapped = Mapped::default();
    if invocation.verb == Verb::Run {
        if Platform::CURRENT == Platform::Windows {
            return Err(
                "a Windows path can't be the same in a container. Run this in WSL, or use \
                        gemini-companion bridge --map there"
                    .to_owned(),
            );
        }
        if network == Network::Own && invocation.engine != Engine::Podman && !invocation.host_entry
        {
            flags.push("--add-host=host.docker.internal:host-gateway".to_owned());
        }
        mapped = mount_project(invocation, &running[0], options, &mut flags, &mut notes);
    }
    let variables = match &options.bridge {
        None => give_files(invocation, running, options, network, &mut flags, &mut notes),
        Some(program) => {
            if invocation.verb != Verb::Run {
                return Err("--bridge needs run or create; other commands can't mount it".into());
            }
            add_bridge(running, program, options, &mapped, network, &mut flags)?
        }
    };
    let names = variables.keys().map(|name| format!("--env={name}"));
    let mut words = invocation.words.clone();
    let added = flags.into_iter().chain(names).map(OsString::from);
    words.splice(invocation.insert_at..invocation.insert_at, added);
    Ok(Prepared { words, variables, notes })
}

/// The network of the container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    /// Its own network, which is the default.
    Own,
    /// The host's network.
    Host,
    /// No network.
    None,
    /// The network of another container, of a pod, or one that a compose file or an earlier command
    /// chose.
    Unknown,
}

impl Network {
    fn of(invocation: &Invocation) -> Self {
        match invocation.network.as_deref() {
            _ if invocation.verb != Verb::Run || invocation.pod => Self::Unknown,
            Some("host") => Self::Host,
            Some("none") => Self::None,
            Some(other) if other.starts_with("container:") || other.starts_with("ns:") => {
                Self::Unknown
            }
            _ => Self::Own,
        }
    }

    fn notes(self, invocation: &Invocation, loopback_only: bool) -> Vec<String> {
        let mut notes = Vec::new();
        if self == Self::None {
            notes.push("with --network none the CLI can't reach the companion".to_owned());
        }
        if self == Self::Own && loopback_only {
            let (address, whose) = match invocation.engine {
                Engine::Docker => {
                    ("172.17.0.1", "the address of Docker's bridge; Docker Desktop needs none")
                }
                Engine::Nerdctl => {
                    ("ADDRESS", "run getent hosts host.docker.internal in a container")
                }
                // Without root, the host itself has no such address.
                Engine::Podman => {
                    ("ADDRESS", "as root: run getent hosts host.containers.internal in a container")
                }
            };
            notes.push(format!(
                "the companion listens on 127.0.0.1 only. A container with its own network can't \
                 reach that. Add --network host to the command. Or let the companion listen on \
                 {address} ({whose}): set that in the JetBrains plugin, or start gemini-companion \
                 serve with --listen"
            ));
        }
        if invocation.verb == Verb::ComposeRun {
            notes.push(
                "only variables are passed. In the compose file, mount the project at its own path, and \
                 add extra_hosts: [\"host.docker.internal:host-gateway\"]"
                    .to_owned(),
            );
        }
        notes
    }
}

/// The project in the container.
#[derive(Debug, Default)]
struct Mapped {
    /// The paths that differ: pairs of a path in the container and the path on the host.
    paths: Vec<(String, String)>,
    /// The roots of the workspace, by their paths in the container.
    roots: Vec<String>,
}

impl Mapped {
    fn to_container(&self, path: &str) -> Option<String> {
        let mut nearest: Option<(&str, String)> = None;
        for (inside, outside) in &self.paths {
            let Some(rest) = relative_to(Platform::CURRENT, path, outside) else { continue };
            if nearest.as_ref().is_none_or(|(other, _)| other.len() < outside.len()) {
                nearest = Some((outside, format!("{inside}{rest}")));
            }
        }
        nearest.map(|(_, path)| path)
    }
}

/// Adds discovery files, for clients that read the token only from a file. Returns the variables
/// for all clients.
fn give_files(
    invocation: &Invocation,
    running: &[Running],
    options: &ContainerOptions,
    network: Network,
    flags: &mut Vec<String>,
    notes: &mut Vec<String>,
) -> Variables {
    let mut variables = Variables::new();
    for running in running {
        match running.file_for_container() {
            Some((file, inside)) if invocation.verb == Verb::Run => {
                flags.push(bind(&file.to_string_lossy(), &inside, true, options.needs_labels));
            }
            Some((file, inside)) => notes.push(format!(
                "{} takes the token from a file only; mount {} as {inside} when the container is \
                 created",
                running.profile.name,
                file.display()
            )),
            None => {}
        }
        variables.extend(running.for_container(network == Network::Host));
    }
    variables
}

fn mount_project(
    invocation: &Invocation,
    running: &Running,
    options: &ContainerOptions,
    flags: &mut Vec<String>,
    notes: &mut Vec<String>,
) -> Mapped {
    let mut mapped = Mapped::default();
    let roots: Vec<_> = running.workspace_path.split(Platform::CURRENT.list_separator()).collect();
    let mut at_own_path = Vec::new();
    for &root in &roots {
        let places = places(invocation, &options.folder, root);
        if places.is_empty() {
            if Path::new(root).is_dir() {
                flags.push(bind(root, root, false, options.needs_labels));
                at_own_path.push((root.to_owned(), false));
            }
            mapped.roots.push(root.to_owned());
        }
        for Part { target, folder, is_for_cli, is_read_only } in places {
            if is_for_cli || target == folder {
                mapped.roots.push(target.clone());
            }
            if target == folder {
                at_own_path.push((folder, is_read_only));
                continue;
            }
            if is_for_cli && options.bridge.is_none() {
                notes.push(format!(
                    "{folder} is {target} in the container, where the CLI does not recognize it as \
                     the editor's folder. Mount it at {folder}, or add --bridge, which translates \
                     paths"
                ));
            }
            mapped.paths.push((target, folder));
        }
    }
    for (git, is_read_only) in missing_git_folders(&invocation.mounts, &at_own_path) {
        flags.push(bind(&git, &git, is_read_only, options.needs_labels));
    }
    if invocation.workdir.is_none() {
        let folder = options.folder.to_string_lossy().into_owned();
        let folder = roots.iter().find_map(|root| below(root, &folder)).unwrap_or(folder);
        flags.push(format!("--workdir={}", mapped.to_container(&folder).unwrap_or(folder)));
    }
    mapped
}

/// Returns the `.git` folders that linked worktrees share and that are not mounted at their own path,
/// where the worktrees name them. A folder is read-only if all its worktrees are. `at_own_path` has all
/// folders of the project that are at their own path, and whether they are read-only.
fn missing_git_folders(mounts: &[Mount], at_own_path: &[(String, bool)]) -> BTreeMap<String, bool> {
    let mut missing = BTreeMap::new();
    for (folder, is_read_only) in at_own_path {
        let git = shared_git_folder(Path::new(folder));
        let Some(git) = git.as_deref().and_then(Path::to_str) else { continue };
        let is_mounted = theirs(mounts, git).is_some_and(|part| part.target == git)
            || at_own_path.iter().any(|(other, _)| below(other, git).is_some_and(|at| at == git));
        if !is_mounted {
            *missing.entry(git.to_owned()).or_insert(true) &= is_read_only;
        }
    }
    missing
}

/// A mounted folder of the project.
#[derive(Debug)]
struct Part {
    /// The path in the container.
    target: String,
    /// The path on the host.
    folder: String,
    /// Whether the CLI runs in it. A mount for another purpose, such as a cache, is not a root of the
    /// workspace, but its paths are translated.
    is_for_cli: bool,
    is_read_only: bool,
}

/// Returns the places of `root` in the container, according to the user's mounts.
fn places(invocation: &Invocation, here: &Path, root: &str) -> Vec<Part> {
    match theirs(&invocation.mounts, root) {
        Some(whole) => vec![whole],
        None => parts(invocation, here, root),
    }
}

/// Returns the parts of `root` that the user mounts, if one of them is for the CLI. Then the CLI gets
/// no more of the root.
fn parts(invocation: &Invocation, here: &Path, root: &str) -> Vec<Part> {
    let here = here.to_string_lossy();
    let mut parts = Vec::new();
    for mount in invocation.mounts.iter().filter(|mount| mount.is_of_path()) {
        let Some(folder) = below(root, &mount.source).filter(|folder| Path::new(folder).is_dir())
        else {
            continue;
        };
        let target = mount.target.trim_end_matches('/').to_owned();
        let is_for_cli = match &invocation.workdir {
            Some(workdir) => relative_to(Platform::CURRENT, workdir, &target).is_some(),
            None => below(&mount.source, &here).is_some(),
        };
        parts.push(Part { target, folder, is_for_cli, is_read_only: mount.is_read_only });
    }
    if parts.iter().any(|part| part.is_for_cli) { parts } else { Vec::new() }
}

/// Returns the path of `folder`, beginning with `root`, or `None` if it is elsewhere. Both may be
/// links.
fn below(root: &str, folder: &str) -> Option<String> {
    let rest = relative_to(Platform::CURRENT, &real(folder)?, &real(root)?)?.to_owned();
    Some(format!("{root}{rest}"))
}

fn real(path: &str) -> Option<String> {
    Some(Path::new(path).canonicalize().ok()?.to_string_lossy().into_owned())
}

/// Returns the whole of `root`, if the user mounts it. If there are several places, its own path is
/// the first choice.
fn theirs(mounts: &[Mount], root: &str) -> Option<Part> {
    let place = |target: String, is_read_only| Part {
        target,
        folder: root.to_owned(),
        is_for_cli: true,
        is_read_only,
    };
    if let Some(mount) = mounts.iter().find(|mount| mount.target.trim_end_matches('/') == root) {
        return Some(place(root.to_owned(), mount.is_read_only));
    }
    let real_root = real(root)?;
    let mut first = None;
    for mount in mounts.iter().filter(|mount| mount.is_of_path()) {
        let Some(source) = real(&mount.source) else { continue };
        let Some(rest) = relative_to(Platform::CURRENT, &real_root, &source) else { continue };
        let target = format!("{}{rest}", mount.target.trim_end_matches('/'));
        let place = place(target, mount.is_read_only);
        if place.target == root {
            return Some(place);
        }
        first.get_or_insert(place);
    }
    first
}

/// Returns an option that mounts `source`, whose name may contain any character.
fn bind(source: &str, target: &str, read_only: bool, needs_labels: bool) -> String {
    if !source.contains(':') && !target.contains(':') {
        let modes = [("ro", read_only), ("z", needs_labels)].into_iter();
        let modes: Vec<_> = modes.filter_map(|(mode, is_set)| is_set.then_some(mode)).collect();
        let colon = if modes.is_empty() { "" } else { ":" };
        return format!("--volume={source}:{target}{colon}{}", modes.join(","));
    }
    let field = |text: String| {
        let quote = text.contains([',', '"']);
        if quote { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
    };
    let mode = if read_only { ",readonly" } else { "" };
    let (source, target) = (field(format!("source={source}")), field(format!("target={target}")));
    format!("--mount=type=bind,{source},{target}{mode}")
}

/// Mounts the bridge. The client passes no variables to the bridge, so the bridge finds the
/// companion by its file. The client itself gets no port, because it would try the port first.
fn add_bridge(
    all: &[Running],
    program: &Path,
    options: &ContainerOptions,
    mapped: &Mapped,
    network: Network,
    flags: &mut Vec<String>,
) -> Result<Variables, String> {
    let found = all.iter().find_map(|running| Some((running, running.file.as_deref()?)));
    let Some((running, file)) = found else {
        return Err("--bridge needs the companion's discovery file, but there is none. See the \
                    companion's log"
            .to_owned());
    };
    if !program.is_file() {
        return Err(format!("--bridge {}: program does not exist", program.display()));
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let Folder { base, names } = running.profile.folder;
    // With `--temp-dir` the bridge looks for a client's own folder there, not in the home folder.
    let own = base.own().map(|(_, name)| name);
    let folders = own.iter().chain(names).copied().collect::<Vec<_>>().join("/");
    let inside = format!("{TEMP_DIR}/{folders}/{name}");
    flags.push(bind(&program.to_string_lossy(), PROGRAM, true, options.needs_labels));
    flags.push(bind(&file.to_string_lossy(), &inside, true, options.needs_labels));

    let mut args = ["bridge", "--temp-dir", TEMP_DIR].map(str::to_owned).to_vec();
    for (inside, outside) in &mapped.paths {
        args.extend(["--map".to_owned(), format!("{inside}={outside}")]);
    }
    let roots = mapped.roots.join(&Platform::CURRENT.list_separator().to_string());
    let args = serde_json::to_string(&args).expect("texts are JSON");
    let mut variables = Variables::new();
    for Running { profile, .. } in all {
        let names = &profile.variables;
        variables.extend(container_marks(profile, network == Network::Host));
        variables.extend([
            (names.workspace_path, roots.clone()),
            (names.stdio_command, PROGRAM.to_owned()),
            (names.stdio_args, args.clone()),
        ]);
    }
    Ok(variables)
}

#[cfg(test)]
mod tests {
    use super::bind;

    #[test]
    fn a_mount_takes_any_name() {
        for (source, read_only, expected) in [
            ("/a b", false, "--volume=/a b:/x"),
            ("/a,\"b", true, "--volume=/a,\"b:/x:ro"),
            ("/a:b", true, "--mount=type=bind,source=/a:b,target=/x,readonly"),
            ("/a:,\"b", false, "--mount=type=bind,\"source=/a:,\"\"b\",target=/x"),
        ] {
            assert_eq!(bind(source, "/x", read_only, false), expected);
        }
    }

    #[test]
    fn a_mount_is_labelled_for_selinux() {
        assert_eq!(bind("/a", "/x", false, true), "--volume=/a:/x:z");
        assert_eq!(bind("/a", "/x", true, true), "--volume=/a:/x:ro,z");
    }
}
