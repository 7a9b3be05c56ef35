//! Locates the companion by the command line or by the client's rules.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use companion_client::discover::{Candidate, Environment, Plan, Token};
use companion_client::http::Endpoint;

use super::mapping::{Mapping, is_within, list};

/// Finds a companion.
#[derive(Debug)]
pub(crate) struct Finder {
    /// In the order of the attempts.
    pub(super) hosts: Vec<String>,
    pub(super) search: Search,
}

#[derive(Debug)]
pub(super) enum Search {
    /// A port, and the file with its token. The file is read each time, because a restarted companion
    /// may have written another token.
    Port(u16, PathBuf),
    /// The discovery files, and then the environment's variables.
    Discovery {
        /// One for each client that may know the companion.
        environments: Vec<Environment>,
        /// The client's folder as the companion sees it, if the two paths differ.
        folder: Option<String>,
    },
}

/// A companion's port and token.
type Address = (u16, Option<Token>);

impl Finder {
    /// Finds companions by discovery, for a client in the folder of `environments`.
    pub(super) fn discovery(
        hosts: Vec<String>,
        environments: Vec<Environment>,
        mapping: &Mapping,
    ) -> Self {
        let cwd = environments.first().and_then(|one| one.cwd.to_str());
        let folder = cwd.and_then(|cwd| mapping.to_companion(cwd));
        Self { hosts, search: Search::Discovery { environments, folder } }
    }

    /// Returns all possible companions, the likeliest first, each at all its hosts. No list is empty. Reads
    /// files.
    ///
    /// # Errors
    /// The reason why there is no endpoint.
    pub(crate) fn find(&self) -> Result<Vec<Vec<Endpoint>>, String> {
        let found = match &self.search {
            Search::Port(port, file) => vec![(*port, Some(read_token(file)?))],
            Search::Discovery { environments, folder } => {
                discover_all(environments, folder.as_deref())?
            }
        };
        let at = |(port, token): Address| {
            let hosts = self.hosts.iter().map(|host| {
                let mut endpoint = Endpoint::new(host, port, token.clone());
                // The check of this header keeps web pages out. A bridge is not a web page, but may
                // know the companion by another name.
                endpoint.host_header = Some(format!("127.0.0.1:{port}"));
                endpoint
            });
            hosts.collect()
        };
        Ok(found.into_iter().map(at).collect())
    }
}

fn read_token(file: &Path) -> Result<Token, String> {
    let source = format!("the token file {}", file.display());
    let token =
        std::fs::read_to_string(file).map_err(|error| format!("can't read {source}: {error}"))?;
    // PowerShell writes a byte order mark.
    let token = token.trim_start_matches('\u{feff}').trim();
    if token.is_empty() {
        Err(format!("{source} has no token"))
    } else {
        Ok(token.to_owned().into())
    }
}

/// Finds the companions of all clients, each once.
fn discover_all(
    environments: &[Environment],
    folder: Option<&str>,
) -> Result<Vec<Address>, String> {
    let mut all = Vec::new();
    let mut none = None;
    for environment in environments {
        match discover(environment, folder) {
            Ok(found) => all.extend(found),
            Err(why) => none = none.or(Some(why)),
        }
    }
    let mut seen = HashSet::new();
    all.retain(|one: &Address| seen.insert(one.clone()));
    if all.is_empty() { Err(none.unwrap_or_default()) } else { Ok(all) }
}

/// Finds the companions of a client: its choice, the alternatives, and the one of the variables.
fn discover(environment: &Environment, folder: Option<&str>) -> Result<Vec<Address>, String> {
    let plan = Plan::of(environment);
    let files = match folder {
        Some(folder) => plan.search.chosen_first(|one| is_open(one, folder)),
        None => plan.fitting(),
    };
    let mut found: Vec<_> = files.into_iter().filter_map(Candidate::address).collect();
    found.extend(environment.address().map(|(port, token)| (port, Some(token))));
    if found.is_empty() { Err(none_found(&plan, environment, folder)) } else { Ok(found) }
}

fn is_open(candidate: &Candidate, folder: &str) -> bool {
    let workspace = candidate.connection.as_ref().and_then(|c| c.workspace_path.as_deref());
    workspace.is_some_and(|workspace| list(workspace).any(|root| is_within(folder, root)))
}

fn none_found(plan: &Plan, environment: &Environment, folder: Option<&str>) -> String {
    let open: Vec<_> = plan
        .search
        .candidates
        .iter()
        .filter_map(|one| one.connection.as_ref()?.workspace_path.as_deref())
        .collect();
    let dir = plan.search.dir.display();
    if open.is_empty() {
        return format!("no usable discovery file in {dir}; is the editor running?");
    }
    let folder = folder.map_or(environment.cwd.as_path(), Path::new);
    if let Some(split) = plan.split_folder(folder) {
        let name = environment.profile.name;
        return format!("{name} takes {} for several folders; rename it", split.display());
    }
    let folder = folder.display();
    format!("no editor has {folder} open, only {}", open.join(", "))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use companion_protocol::profile::GEMINI;

    use super::*;

    /// Creates discovery files, as `(pid, port, workspace)`, in a folder for temporary files.
    fn environment(dir: &Path, files: &[(u32, u16, &str)]) -> Environment {
        let ide = dir.join("gemini/ide");
        std::fs::create_dir_all(&ide).unwrap();
        for (pid, port, workspace) in files {
            let json = serde_json::json!({
                "port": port, "workspacePath": workspace, "authToken": format!("token-{port}"),
                "ideInfo": { "name": "a", "displayName": "A" },
            });
            let file = ide.join(format!("gemini-ide-server-{pid}-{port}.json"));
            std::fs::write(file, json.to_string()).unwrap();
        }
        let cwd = dir.join("work/app");
        std::fs::create_dir_all(&cwd).unwrap();
        let mut environment = Environment::with_vars(&GEMINI, BTreeMap::new(), cwd);
        environment.temp_dir = dir.to_owned();
        environment.is_alive = |_| true;
        environment
    }

    fn ports(environment: Environment, rules: &[&str]) -> Result<Vec<u16>, String> {
        let rules = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        let hosts = vec!["127.0.0.1".to_owned()];
        let found = Finder::discovery(hosts, vec![environment], &Mapping(rules)).find()?.concat();
        for endpoint in &found {
            assert_eq!(endpoint.token, Some(format!("token-{}", endpoint.port).into()));
        }
        Ok(found.into_iter().map(|endpoint| endpoint.port).collect())
    }

    #[test]
    fn the_clients_choice_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path().join("work").to_str().unwrap().to_owned();
        let files = [(5, 50, &*here), (7, 70, "/elsewhere"), (6, 60, &*here)];
        let mut environment = environment(dir.path(), &files);
        assert_eq!(ports(environment.clone(), &[]), Ok(vec![60, 50]));
        environment.ide_pid = 5;
        assert_eq!(ports(environment, &[]), Ok(vec![50, 60]));
    }

    #[test]
    fn a_folder_that_has_another_name_there() {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work").to_str().unwrap().to_owned();
        for (workspace, there) in [
            ("/home/me/p", "/home/me/p"),
            ("/else:/home/me", "/home/me/p"),
            (r"D:\x;c:\users", r"C:\Users\me"),
            (r"\\wsl.localhost\Debian", r"\\wsl$\Debian\home"),
        ] {
            let environment = environment(dir.path(), &[(5, 50, workspace), (6, 60, "/home/you")]);
            assert_eq!(ports(environment, &[&format!("{work}={there}")]), Ok(vec![50]));
        }
    }

    #[test]
    fn an_error_names_the_missing_file_or_folder() {
        let dir = tempfile::tempdir().unwrap();
        let why = ports(environment(dir.path(), &[]), &[]).unwrap_err();
        assert!(why.contains("no usable discovery file in"), "{why}");
        let why = ports(environment(dir.path(), &[(5, 50, "/home/you")]), &[]).unwrap_err();
        assert!(why.contains("work/app open, only /home/you"), "{why}");
    }

    #[test]
    fn variables_are_for_when_no_file_fits() {
        let dir = tempfile::tempdir().unwrap();
        let mut environment = environment(dir.path(), &[(5, 50, "/home/you")]);
        let names = &GEMINI.variables;
        for (name, value) in [
            (names.port, "70"),
            (names.auth_token.unwrap(), "token-70"),
            (names.workspace_path, dir.path().to_str().unwrap()),
        ] {
            environment.vars.insert(name.to_owned(), value.to_owned());
        }
        assert_eq!(ports(environment.clone(), &[]), Ok(vec![70]));
        environment.vars.remove(names.auth_token.unwrap());
        assert!(ports(environment, &[]).is_err(), "no companion accepts it without a token");
    }

    #[test]
    fn a_token_file_is_read_each_time() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        let search = Search::Port(80, file.clone());
        let finder = Finder { hosts: vec!["::1".to_owned()], search };
        assert!(finder.find().unwrap_err().contains("can't read the token file"));
        std::fs::write(&file, "\n").unwrap();
        assert!(finder.find().unwrap_err().contains("has no token"));
        std::fs::write(&file, "\u{feff}the-secret\r\n").unwrap();
        let found = finder.find().unwrap().concat().remove(0);
        assert_eq!(found.token, Some("the-secret".to_owned().into()));
        assert_eq!(found.authority(), "[::1]:80");
        assert_eq!(found.host_header.as_deref(), Some("127.0.0.1:80"));
    }
}
