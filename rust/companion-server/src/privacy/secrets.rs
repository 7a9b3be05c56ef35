//! Recognizes files that may contain secrets, by their paths. They are private, unless an ignore file
//! takes them back.

use std::sync::LazyLock;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// A kind of files with secrets.
struct Kind {
    /// The secrets in them, for users.
    content: &'static str,
    /// The patterns, in lower case and in the syntax of `.gitignore`. One with a slash at its end is for
    /// folders, all others are for files.
    patterns: &'static [&'static str],
    /// Exceptions from these patterns and from those of the kinds above.
    except: &'static [&'static str],
}

/// The kinds. `docs/privacy.md` has this table, and a test compares them.
const KINDS: [Kind; 8] = [
    // Sources have names such as `id_generator.py`.
    Kind { content: "private keys of SSH", patterns: &["id_*"], except: &["id_*.*"] },
    Kind {
        content: "environment variables, often passwords and tokens",
        patterns: &[".env", ".env.*", "*.env", ".envrc"],
        except: &["{example,sample,template}.env", "*.{example,sample,template}.env"],
    },
    Kind {
        content: "private keys",
        patterns: &["*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.keystore"],
        except: &[],
    },
    Kind {
        content: "private keys of SSH",
        patterns: &["id_{rsa,dsa,ecdsa,ed25519}*"],
        except: &["*.pub"],
    },
    Kind {
        content: "passwords and tokens of servers and registries",
        patterns: &[
            ".netrc",
            "_netrc",
            ".npmrc",
            ".pypirc",
            ".pgpass",
            "pgpass.conf",
            ".my.cnf",
            ".git-credentials",
            ".htpasswd",
            ".dockercfg",
            "**/.docker/config.json",
            "**/.m2/settings.xml",
            "**/.config/gh/hosts.yml",
        ],
        except: &[],
    },
    // Sources have names such as `credentials.ts`.
    Kind {
        content: "passwords and tokens",
        patterns: &[
            "*credentials",
            "*credentials.{json,yml,yaml,toml,ini,xml,csv,txt,properties,cfg,conf,db}",
            ".secrets",
            "secrets.{json,yml,yaml,toml,ini,xml,csv,txt,properties,cfg,conf}",
            "client_secret*.json",
            "*service{-,_}account*.json",
            "*serviceaccount*.json",
            "oauth_creds.json",
            "keystore.properties",
            "*.kdbx",
            "*.kdb",
        ],
        except: &[],
    },
    Kind {
        content: "passwords in states and variables of Terraform",
        patterns: &["*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json", ".terraformrc"],
        except: &[],
    },
    Kind {
        content: "keys and tokens of the user",
        patterns: &[
            ".aws/",
            ".azure/",
            ".gnupg/",
            ".kube/",
            ".oci/",
            ".password-store/",
            ".ssh/",
            "**/.config/gcloud/",
        ],
        except: &["*.example", "*.sample", "*.template", "*.dist"],
    },
];

static FILES: LazyLock<Gitignore> = LazyLock::new(|| matcher(|pattern| !pattern.ends_with('/')));
static FOLDERS: LazyLock<Gitignore> = LazyLock::new(|| matcher(|pattern| pattern.ends_with('/')));

fn matcher(is_meant: fn(&str) -> bool) -> Gitignore {
    let mut rules = GitignoreBuilder::new("");
    for kind in KINDS {
        for pattern in kind.patterns.iter().filter(|pattern| is_meant(pattern)) {
            let _ = rules.add_line(None, pattern); // a test checks that each is valid
        }
        for pattern in kind.except {
            let _ = rules.add_line(None, &format!("!{pattern}"));
        }
    }
    rules.build().unwrap_or_else(|_| Gitignore::empty())
}

/// A file that may contain secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Secret {
    /// The number of names up to the file, or to the innermost folder that makes it secret.
    pub(super) end: usize,
    /// The secrets in it, for users.
    pub(super) content: &'static str,
}

impl Secret {
    /// Judges the file that `names` lead to, in lower case. The first `opened` names don't count: they
    /// are those of a folder that the user has opened.
    pub(super) fn of(names: &[String], opened: usize) -> Option<Self> {
        (opened + 1..=names.len()).rev().find_map(|end| {
            let is_dir = end < names.len();
            let rules = if is_dir { &FOLDERS } else { &FILES };
            let Match::Ignore(rule) = rules.matched(names[..end].join("/"), is_dir) else {
                return None;
            };
            let kind = KINDS.iter().find(|kind| kind.patterns.contains(&rule.original()))?;
            Some(Self { end, content: kind.content })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::privacy::rules::lowercase;

    fn secret(path: &str) -> Option<Secret> {
        let names: Vec<_> = path.split('/').map(lowercase).collect();
        Secret::of(&names, 0)
    }

    #[test]
    fn files_with_secrets_are_recognized() {
        for path in [
            ".env",
            "a/.env.local",
            ".ENV.production",
            "prod.env",
            ".env.example.local",
            ".envrc",
            "server.pem",
            "a/b/private.KEY",
            "AuthKey_1.p8",
            "id_rsa",
            "id_github",
            "id_ed25519_sk",
            "id_rsa.bak",
            "id_server.pem",
            ".netrc",
            ".npmrc",
            ".pypirc",
            ".docker/config.json",
            "home/me/.docker/config.json",
            "home/me/.m2/settings.xml",
            "credentials",
            "credentials.json",
            ".credentials.json",
            "application_default_credentials.json",
            "config/credentials.yml",
            "secrets.toml",
            "serviceAccountKey.json",
            "my-service-account.json",
            "passwords.kdbx",
            "terraform.tfstate",
            "terraform.tfstate.backup",
            "prod.tfvars",
            "home/me/.aws/config",
            ".aws/sso/cache/a.json",
            ".ssh/config",
            ".ssh/known_hosts.example/x",
            "home/me/.config/gcloud/access_tokens.db",
        ] {
            assert!(secret(path).is_some(), "{path}");
        }
    }

    #[test]
    fn ordinary_files_are_shared() {
        for path in [
            ".env.example",
            ".env.sample",
            ".env.template",
            ".env.dist",
            ".env.local.example",
            "example.env",
            "docker.sample.env",
            "env",
            "env.ts",
            "environment.env.ts",
            "id_rsa.pub",
            "id_ed25519-work.pub",
            "id_generator.py",
            "id_token.rs",
            "credentials.ts",
            "credentials.go",
            "credentials_test.py",
            "credentials.md",
            "credentials.example.json",
            "credentials/mod.rs",
            "src/secrets/store.kt",
            "secrets.rs",
            "service_account.go",
            "service-account/index.ts",
            "client_secret.rs",
            "keys.json",
            "key",
            "pem.c",
            "monkey.js",
            "config.json",
            "docker/config.json",
            "settings.xml",
            "terraform.tf",
            "prod.tfvars.example",
            "aws/config",
            "ssh/client.c",
            "config/gcloud/main.tf",
            ".config/nvim/init.lua",
            ".gitignore",
            ".npmrc.md",
        ] {
            assert_eq!(secret(path), None, "{path}");
        }
    }

    #[test]
    fn the_innermost_name_counts_and_none_of_an_opened_folder() {
        let names = ["me", ".aws", "proj", "credentials"].map(str::to_owned);
        let end = |count, opened| Secret::of(&names[..count], opened).map(|secret| secret.end);
        assert_eq!(end(4, 0), Some(4));
        assert_eq!(end(3, 0), Some(2));
        assert_eq!(end(3, 1), Some(2));
        assert_eq!(end(3, 2), None);
        assert_eq!(end(2, 0), None, "a folder itself is no file");
        assert_eq!(end(4, 4), None);
    }

    #[test]
    fn the_manual_has_each_pattern() {
        let mut table = String::new();
        for Kind { content, patterns, except } in KINDS {
            for pattern in patterns.iter().chain(except) {
                let mut rules = GitignoreBuilder::new("");
                rules.add_line(None, pattern).unwrap();
                assert_eq!(rules.build().unwrap().num_ignores(), 1, "{pattern}");
            }
            let listed = |patterns: &[&str]| {
                patterns.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", ")
            };
            let except = listed(except);
            writeln!(table, "| {} | {except} | {content} |", listed(patterns)).unwrap();
        }
        let manual = include_str!("../../../../docs/privacy.md");
        assert!(manual.contains(&format!("| --- | --- | --- |\n{table}\n")), "it lacks:\n{table}");
    }
}
