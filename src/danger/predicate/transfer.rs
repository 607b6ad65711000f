//! What would leave for other machines: whole trees, stores of data, secrets of another service.

use super::file::{holds_system, is_data_store, is_secret_dir};
use super::kept::is_changed;
use super::known::path;
use super::network::remote_host;
use super::reading::prints_token;
use crate::danger::digest::Digest;
use crate::danger::place::{Place, place};
use crate::danger::secret;
use crate::program::{self, Fact};
use crate::secret::{is_secret_file, is_secret_variable};
use crate::shell::{Invocation, Word, file_name};
use crate::words::{holds_any, words};

/// Whether an archive is taken apart where the system, or what lets people in, lies.
pub(super) fn unpacks_into_system(digest: &Digest<'_>) -> bool {
    let known = program::find(&digest.invocation.program);
    let into = digest.invocation.folders(known, Fact::Unpacks);
    let lets_in = |dir: &Word| dir.text != "~" && is_secret_dir(&dir.text);
    digest.invocation.unpacks(known)
        && into
            .iter()
            .any(|dir| holds_system(digest, dir) || lets_in(dir))
}

/// Whether an archive is taken apart over a whole home directory.
pub(super) fn unpacks_over_home(digest: &Digest<'_>) -> bool {
    let known = program::find(&digest.invocation.program);
    let home = &digest.analysis.surroundings.home;
    let is_home = |dir: &Word| {
        digest.place(dir) == Place::Home || home.is_some() && path(digest, dir) == *home
    };
    let into = digest.invocation.folders(known, Fact::Unpacks);
    digest.invocation.unpacks(known) && into.iter().any(is_home)
}

/// Whether an archive is taken apart over files with changes that no commit holds.
pub(super) fn unpacks_over_changes(digest: &Digest<'_>) -> bool {
    let known = program::find(&digest.invocation.program);
    let into = digest.invocation.folders(known, Fact::Unpacks);
    let into: Vec<&Word> = into.iter().collect();
    digest.invocation.unpacks(known) && is_changed(digest, &into)
}

/// Whether a word names so much at once that secrets and other people's things are among it.
fn is_whole_tree(digest: &Digest<'_>, invocation: &Invocation, word: &Word) -> bool {
    is_secret_dir(&word.text)
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

/// Returns what a copying program takes to another machine: what stands before the last address of one.
pub(super) fn sent<'w, 'a>(words: &'w [&'a Word]) -> &'w [&'a Word] {
    let is_remote = |word: &&Word| word.text.contains(':') && !word.text.starts_with(['/', '.']);
    let target = words.iter().rposition(is_remote);
    words.get(..target.unwrap_or(0)).unwrap_or_default()
}

/// Whether an invocation names what this line has made of secrets: a copy, a link, an archive of the copy.
pub(super) fn sends_copy(digest: &Digest<'_>) -> bool {
    let bare = |text: &str| text.trim_start_matches("./").to_owned();
    let mut made: Vec<String> = Vec::new();
    for earlier in digest.earlier() {
        let operands: Vec<&str> = earlier.operands().map(|word| word.text.as_str()).collect();
        let (sources, target) = match operands.split_last() {
            Some((target, sources)) if program::find(&earlier.program).is(Fact::ToLast) => {
                (sources, Some(*target))
            }
            _ => (operands.as_slice(), None),
        };
        let is_secret =
            |text: &&&str| target.is_some() && is_secret_file(text) || made.contains(&bare(text));
        let Some(secret) = sources.iter().find(is_secret) else {
            continue;
        };
        let mut new: Vec<String> = match target {
            Some(target) => {
                let name = file_name(secret);
                let below = format!("{}/{name}", target.trim_end_matches('/'));
                vec![bare(target), bare(&below)]
            }
            // An archive of it, or it in another form.
            None => operands.iter().map(|text| bare(text)).collect(),
        };
        let written = earlier
            .redirects
            .iter()
            .filter(|redirect| redirect.writes());
        new.extend(written.map(|redirect| bare(&redirect.target.text)));
        made.extend(new);
    }
    if made.is_empty() {
        return false;
    }
    let names = |text: &str| {
        let mut parts = text.split(['@', '=', '<', ',', ';', ':', ' ', '\n']);
        parts.any(|part| !part.is_empty() && made.contains(&bare(part)))
    };
    let reads = |one: &Invocation| {
        one.arguments.iter().any(|word| names(&word.text))
            || one
                .redirects
                .iter()
                .any(|r| r.reads() && names(&r.target.text))
    };
    reads(digest.invocation)
        || digest.invocation.stdin.text().is_some_and(names)
        || digest.feeders().any(reads)
}

/// Whether a copying program takes a whole tree to another machine.
pub(super) fn sends_tree(digest: &Digest<'_>, words: &[&Word]) -> bool {
    !leaves_out(digest.invocation)
        && sent(words)
            .iter()
            .any(|word| is_whole_tree(digest, digest.invocation, word))
}

/// Whether what is pushed goes to a remote that this line has just added.
pub(super) fn goes_to_new_remote(digest: &Digest<'_>, words: &[&Word]) -> bool {
    digest
        .earlier()
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

/// Whether the input or a word comes from a client of a database that prints rows of it, and not only counts them.
pub(super) fn is_fed_by_rows(digest: &Digest<'_>) -> bool {
    let reads = |i: &Invocation| {
        let exports = matches!(i.program.as_str(), "mongoexport" | "influx_inspect");
        let mut words = i
            .arguments
            .iter()
            .map(|word| word.text.to_ascii_lowercase());
        let is_of_rows = |text: String| {
            let selects = text.contains("select") && text.contains("from");
            (selects || text.contains("copy ") || text.contains(".find("))
                && !text.contains("count(")
        };
        exports || program::find(&i.program).is(Fact::Statements) && words.any(is_of_rows)
    };
    digest.feeders().chain(digest.makers()).any(reads)
}

/// Whether the commands that a client for file transfer is given send secrets or a whole tree.
pub(super) fn sends_by_commands(digest: &Digest<'_>) -> bool {
    digest
        .texts()
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
                    is_secret_file(path)
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

/// Whether the secret of one service goes to a host of another: in its address, among the data, or as what the client of the
/// one prints.
pub(super) fn misdirects_secret(digest: &Digest<'_>, words: &[&Word]) -> bool {
    let mut told = words.iter().map(|word| word.text.as_str());
    let Some((address, host)) = told.find_map(|text| Some((text, remote_host(text)?))) else {
        return false;
    };
    let is_foreign = |name: &str| is_of_another(name, host) == Some(true);
    let among = |words: &mut dyn Iterator<Item = &Word>| {
        words
            .filter(|w| w.dynamic)
            .flat_map(|w| secret::variables(&w.text))
            .any(|name| is_secret_variable(name) && is_foreign(name))
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
    // A client prints a token for another audience too, where it is asked for one.
    let printed = digest.makers().filter(|i| prints_token(i)).any(|client| {
        let mut arguments = client.arguments.iter();
        !arguments.any(|w| holds_any(&w.text, words!("audience-words")))
            && is_foreign(&client.program)
    });
    private
        || among(&mut words.iter().copied())
        || printed && !digest.knowledge.is_trusted(address, false)
}

/// Whether a secret belongs to a service that is known, and not to this host; none where nobody knows its owner.
fn is_of_another(name: &str, host: &str) -> Option<bool> {
    let upper = name.to_ascii_uppercase();
    let owner = upper.split('_').next().unwrap_or_default();
    let mut services = words!("secret-owners", lines)
        .iter()
        .map(|service| service.split(' '));
    let mut hosts =
        services.find_map(|mut words| (words.next() == Some(owner)).then_some(words))?;
    Some(!hosts.any(|part| host.contains(part)))
}

/// Returns the part of a host's name that its owner has registered: `openweathermap` of `api.openweathermap.org`.
fn own_name(host: &str) -> &str {
    let name = host.split(':').next().unwrap_or(host);
    let mut labels = name.rsplit('.').skip(1);
    let last = labels.next().unwrap_or(name);
    // `co` of `co.uk`.
    if last.len() > 3 {
        last
    } else {
        labels.next().unwrap_or(last)
    }
}

/// Whether a secret stands in an address behind its host, which logs keep, and neither the host's own name says that it is the
/// secret's owner, nor is the host trusted: `https://x.example/?k=$API_KEY`.
pub(super) fn puts_secret_in_address(digest: &Digest<'_>) -> bool {
    let is_owner = |name: &str, host: &str| {
        let lower = name.to_ascii_lowercase();
        let mut parts = lower.split('_');
        let says_whose = |part: &&str| part.len() > 2 && !words!("key-words").contains(part);
        is_of_another(name, host) == Some(false)
            || parts.any(|part| says_whose(&part) && own_name(host).contains(part))
    };
    let dynamic = digest.invocation.arguments.iter().filter(|w| w.dynamic);
    dynamic.map(|word| word.text.as_str()).any(|address| {
        let Some(host) = remote_host(address).filter(|host| !host.contains('$')) else {
            return false;
        };
        let behind = address.split_once(host).map_or("", |(_, behind)| behind);
        secret::variables(behind).any(|name| is_secret_variable(name) && !is_owner(name, host))
            && !digest.knowledge.is_trusted(address, false)
    })
}
