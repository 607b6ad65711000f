//! What would leave for other machines: whole trees, stores of data, secrets of another service.

use super::network::is_local;
use crate::danger::digest::Digest;
use crate::danger::place::Place;
use crate::danger::place::place;
use crate::danger::secret;
use crate::shell::Invocation;
use crate::shell::Word;

/// Whether a word names so much at once that secrets and other people's things are among it.
fn is_whole_tree(digest: &Digest<'_>, invocation: &Invocation, word: &Word) -> bool {
    super::reading::is_secret_dir(&word.text)
        || matches!(word.text.trim_end_matches('/'), "/etc" | "/root" | "/home")
        || matches!(
            place(word, invocation, &digest.analysis.surroundings),
            Place::Root | Place::Home | Place::Personal | Place::Project | Place::Repository
        )
}

/// Whether an invocation leaves something out of what it takes.
fn leaves_out(invocation: &Invocation) -> bool {
    invocation.before_dashes().any(|w| {
        ["--exclude", "--include", "--filter", "--files-from", "-f="]
            .iter()
            .any(|option| w.text.starts_with(option))
    })
}

/// Whether a copying program takes a whole tree to another machine.
pub(super) fn sends_tree(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let is_remote = |word: &&Word| word.text.contains(':') && !word.text.starts_with(['/', '.']);
    let Some(target) = words.iter().rposition(is_remote) else {
        return false;
    };
    let sources = words.get(..target).unwrap_or_default();
    !leaves_out(digest.invocation)
        && sources
            .iter()
            .any(|word| is_whole_tree(digest, digest.invocation, word))
}

/// Whether what is pushed goes to a remote that this line has just added.
pub(super) fn goes_to_new_remote(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let earlier = digest.analysis.invocations.get(..digest.index);
    earlier
        .unwrap_or_default()
        .iter()
        .filter(|i| i.program == "git")
        .any(|adding| {
            let operands: Vec<&str> = adding.operands().map(|w| w.text.as_str()).collect();
            matches!(operands.as_slice(), ["remote", "add", name, ..]
                if *name != "origin" && words.iter().any(|w| w.text == *name))
        })
}

/// Whether an invocation prints a whole tree as an archive.
fn packs_tree(digest: &Digest<'_>, invocation: &Invocation) -> bool {
    let base = match invocation.program.as_str() {
        "tar" | "gtar" | "bsdtar" => invocation.value_of(&["-C", "--directory"]),
        "zip" | "7z" | "7za" | "cpio" | "pax" => None,
        "git" => {
            return invocation
                .operands()
                .next()
                .is_some_and(|w| w.text == "bundle");
        }
        // All that a database holds.
        "mysqldump" | "mariadb-dump" | "pg_dump" | "pg_dumpall" | "mongodump" => return true,
        "sqlite3" | "sqlite" => return invocation.operands().any(|w| w.text.starts_with(".dump")),
        "redis-cli" | "valkey-cli" => return invocation.has_long("--rdb"),
        _ => return false,
    };
    !leaves_out(invocation)
        && invocation.operands().any(|word| match &base {
            Some(base) if word.text == base.text => false,
            Some(base) if !word.text.starts_with(['/', '~']) => {
                let below = format!("{}/{}", base.text.trim_end_matches('/'), word.text);
                is_whole_tree(digest, invocation, &Word::plain(below))
            }
            _ => is_whole_tree(digest, invocation, word),
        })
}

/// Whether the input is an archive of a whole tree.
pub(super) fn is_fed_by_tree(digest: &Digest<'_>) -> bool {
    digest.feeders().any(|i| packs_tree(digest, i))
}

/// Whether the commands that a client for file transfer is given send secrets or a whole tree.
pub(super) fn sends_by_commands(digest: &Digest<'_>) -> bool {
    let stdin = digest.invocation.stdin.text();
    digest
        .invocation
        .arguments
        .iter()
        .map(|w| w.text.as_str())
        .chain(stdin)
        .flat_map(|text| text.split(['\n', ';']))
        .any(|line| {
            let mut words = line.split_whitespace();
            let sends = match words.next() {
                Some("put" | "mput" | "send" | "reput" | "append" | "chunked_put") => true,
                Some("mirror") => words.clone().any(|w| {
                    w == "--reverse"
                        || w.starts_with('-') && !w.starts_with("--") && w.contains('R')
                }),
                _ => false,
            };
            sends
                && words.filter(|w| !w.starts_with('-')).any(|path| {
                    secret::is_secret_path(path)
                        || is_data_store(path)
                        || is_whole_tree(digest, digest.invocation, &Word::plain(path))
                })
        })
}

/// Whether an argument sends the file of a database, or a dump of one: `@app.db`, `file=@dump.sql`.
pub(super) fn sends_data_store(digest: &Digest<'_>) -> bool {
    digest.invocation.arguments.iter().any(|w| {
        w.text
            .split_once('@')
            .is_some_and(|(before, path)| !before.contains("://") && is_data_store(path))
    })
}

/// Words in names of files that are there to be thrown away.
const PASSING: &[&str] = &[
    "test", "tmp", "temp", "example", "sample", "fixture", "mock", "cache", "scratch", "demo",
    "memory",
];

/// Whether a path names a database that is one file, or a dump or backup of one.
pub(super) fn is_data_store(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    if lower.contains("://") || PASSING.iter().any(|word| lower.contains(word)) {
        return false;
    }
    let name = lower.rsplit('/').next().unwrap_or_default();
    let ends = |extensions: &[&str]| {
        extensions
            .iter()
            .any(|extension| name.len() > extension.len() && name.ends_with(extension))
    };
    let is_kept = lower.contains("backup") || lower.contains("dump") || lower.contains("snapshot");
    ends(&[
        ".db", ".db3", ".sqlite", ".sqlite3", ".rdb", ".mdb", ".mdf", ".ldf", ".ibd", ".accdb",
        ".duckdb", ".dump", ".sql.gz", ".sql.zst", ".sql.bz2", ".sql.xz", ".pgdump", ".bson",
        ".tfstate",
    ]) || is_kept
        && ends(&[
            ".sql", ".tar", ".gz", ".tgz", ".zip", ".zst", ".xz", ".bak", ".json",
        ])
}

/// Services, by how the names of their secrets begin, and a part of the names of their hosts. What has none is for no
/// host at all.
const OWNERS: &[(&str, &[&str])] = &[
    ("ANTHROPIC", &["anthropic"]),
    ("AWS", &["amazonaws", "aws"]),
    ("AZURE", &["azure", "microsoft", "windows.net"]),
    ("CARGO", &["crates.io"]),
    ("CLOUDFLARE", &["cloudflare"]),
    ("DATABASE", &[]),
    ("DB", &[]),
    ("DIGITALOCEAN", &["digitalocean"]),
    ("DOCKER", &["docker"]),
    ("GCP", &["google"]),
    ("GH", &["github"]),
    ("GITHUB", &["github"]),
    ("GITLAB", &["gitlab"]),
    ("GOOGLE", &["google"]),
    ("HEROKU", &["heroku"]),
    ("MONGO", &[]),
    ("MONGODB", &[]),
    ("MYSQL", &[]),
    ("NPM", &["npm"]),
    ("OPENAI", &["openai"]),
    ("PG", &[]),
    ("POSTGRES", &[]),
    ("PYPI", &["pypi"]),
    ("REDIS", &[]),
    ("SENDGRID", &["sendgrid"]),
    ("SLACK", &["slack"]),
    ("SSH", &[]),
    ("STRIPE", &["stripe"]),
    ("SUDO", &[]),
    ("TWILIO", &["twilio"]),
];

/// Whether the secret of one service goes to a host of another, in its address or among the data.
pub(super) fn misdirects_secret(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let Some(host) = words.iter().find_map(|w| remote_host(&w.text)) else {
        return false;
    };
    let is_foreign = |name: &str| {
        let upper = name.to_ascii_uppercase();
        let owner = upper.split('_').next().unwrap_or_default();
        OWNERS
            .iter()
            .find(|(prefix, _)| *prefix == owner)
            .is_some_and(|(_, hosts)| !hosts.iter().any(|part| host.contains(part)))
    };
    let among = |words: &mut dyn Iterator<Item = &Word>| {
        words
            .filter(|w| w.dynamic)
            .flat_map(|w| secret::variables(&w.text))
            .any(|name| secret::is_secret_variable(name) && is_foreign(name))
    };
    // A header may hold a token for a host of one's own; what never leaves stands in none.
    let private = digest
        .invocation
        .arguments
        .iter()
        .filter(|w| w.dynamic)
        .flat_map(|w| secret::variables(&w.text))
        .any(|name| {
            name.contains("AWS_SECRET") && is_foreign(name)
                || name.contains("PRIVATE_KEY")
                || name.contains("DATABASE_URL")
        });
    private || among(&mut words.iter().copied())
}

/// Returns the host of an address on another machine.
fn remote_host(text: &str) -> Option<&str> {
    if !super::network::is_remote_url(text) {
        return None;
    }
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next()?;
    let host = host.rsplit('@').next()?;
    (!is_local(host)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::is_data_store;

    #[test]
    fn stores_of_data_are_told_from_what_may_go() {
        for path in [
            "app.db",
            "data/prod.sqlite3",
            "dump.rdb",
            "backups/x.tar.gz",
            "nightly.sql.gz",
        ] {
            assert!(is_data_store(path), "{path}");
        }
        for path in [
            "test.db",
            "x.tar.gz",
            "schema.sql",
            ".db",
            "tmp/app.db",
            "db.rs",
            "tests/x.sqlite",
        ] {
            assert!(!is_data_store(path), "{path}");
        }
    }
}
