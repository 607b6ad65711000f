//! Names that tell what a thing is for: tasks, tests, playing fields of agents, addresses of stores, options of cmdlets.

use crate::danger::container;
use crate::danger::digest::Digest;
use crate::danger::words::{says_test, words};
use crate::glob::glob;
use crate::program;
use crate::program::Fact;
use crate::shell::{Invocation, Stdin, Word, is_loopback};

/// Whether the first word is the name of a task that drops or destroys: `db:drop`, `reset-db`, `nuke`; of a task for production
/// less is enough.
pub(super) fn is_destroying_task(invocation: &Invocation, words: &[&Word]) -> bool {
    let Some(task) = words.first() else {
        return false;
    };
    let separators = [':', '-', '_', '.', '/', '='];
    let lower = task.text.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split(separators).collect();
    let has = |names: &[&str]| parts.iter().any(|part| names.contains(part));
    let of_production = || {
        invocation.arguments.iter().any(|word| {
            let lower = word.text.to_ascii_lowercase();
            lower
                .split(separators)
                .any(|part| matches!(part, "prod" | "production"))
        })
    };
    let harmless = has(&[
        "test", "tests", "spec", "e2e", "lint", "check", "plan", "dry", "docs", "example", "build",
    ]);
    let of_store = has(&[
        "db",
        "database",
        "data",
        "tables",
        "schema",
        "prod",
        "production",
        "volumes",
        "bucket",
        "queue",
        "state",
        "cluster",
    ]);
    !harmless
        && (has(&["destroy", "nuke", "wipe", "obliterate", "annihilate"])
            || has(&[
                "drop", "reset", "purge", "erase", "clean", "delete", "truncate", "teardown",
            ]) && (of_store || of_production()))
}

/// Whether a program is told to work on what is there for tests: `RAILS_ENV=test`, `--env=testing`.
pub(super) fn is_for_tests(invocation: &Invocation) -> bool {
    let is_test = |value: &str| matches!(value, "test" | "testing");
    let environment = invocation.environment.iter();
    environment
        .filter(|(name, _)| name.ends_with("_ENV"))
        .any(|(_, value)| is_test(&value.text))
        || invocation.arguments.iter().any(|w| {
            w.text
                .split_once('=')
                .is_some_and(|(name, value)| name.ends_with(['v', 'V']) && is_test(value))
        })
        || invocation
            .value_of(&["--env", "-e"])
            .is_some_and(|value| is_test(&value.text))
}

/// Whether a program works on a store of this machine that is there for tests, or on the settings or files for tests.
pub(super) fn is_on_store_for_tests(digest: &Digest<'_>) -> bool {
    let invocation = digest.invocation;
    if container::is_of_line(digest.analysis, digest.index, invocation) {
        return true;
    }
    // What says which settings, file, project, store, topic or cluster is meant.
    let options = [
        "-f",
        "--file",
        "-p",
        "--project-name",
        "-d",
        "--dbname",
        "-D",
        "--database",
        "--topic",
        "--kube-context",
    ];
    // A client of statements is given a file of them by `-f`: that says nothing of the store.
    let takes_statements = program::find(&invocation.program).is(Fact::Statements);
    let options: Vec<&str> = options
        .into_iter()
        .filter(|option| !takes_statements || !matches!(*option, "-f" | "--file" | "-p"))
        .collect();
    let is_named = |word: &Word| says_test(&word.text);
    let named = |options: &[&str]| invocation.value_of(options).is_some_and(|w| is_named(&w));
    if named(&["--settings"]) || named(&options) {
        return true;
    }
    // The file of a composition tells what its containers are there for.
    let outer = invocation.wrappers.last();
    if let Some(around) = digest.earlier().last()
        && outer == Some(&around.program)
        && around
            .value_of(&["-f", "--file"])
            .is_some_and(|w| is_named(&w))
    {
        return true;
    }
    let host = invocation.value_of(&["-h", "--host"]);
    let is_here = host.as_ref().is_some_and(|host| is_loopback(&host.text));
    let is_database = |word: &Word| is_named(word) && !word.text.contains(['.', '/', ' ']);
    if takes_statements && is_here && invocation.operands().any(is_database) {
        return true;
    }
    if invocation.program == "mongosh" && invocation.operands().next().is_some_and(is_named) {
        return true;
    }
    let environment = invocation
        .environment
        .iter()
        .chain(&digest.analysis.assignments);
    let given = environment.map(|(_, word)| word.text.as_str());
    if given.clone().any(|text| text.ends_with(":memory:")) {
        return true;
    }
    let arguments = invocation.arguments.iter().map(|word| word.text.as_str());
    let mut addresses = arguments.chain(given).filter_map(|text| {
        if let Some(file) = text
            .strip_prefix("file:")
            .filter(|file| !file.starts_with("//"))
        {
            return Some(says_test(file));
        }
        let (_, address) = text.split_once("://")?;
        let (host, path) = address.split_once('/')?;
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        // A store that is a file has no host.
        let is_here = host.is_empty() || is_loopback(host);
        Some(is_here && says_test(path.split('?').next()?))
    });
    if let Some(first) = addresses.next() {
        return first && addresses.all(|is_one| is_one);
    }
    // By convention the first store of redis is the one in use, and others are for tests.
    let is_other = invocation
        .value_of(&["-n"])
        .is_some_and(|store| store.text != "0");
    let finds_tests = |i: &Invocation| {
        let pattern = i.value_of(&["--pattern"]);
        pattern.is_some_and(|pattern| says_test(&pattern.text))
    };
    invocation.program == "redis-cli"
        && (host.is_none() || is_here)
        && (is_here && is_other || digest.feeders().any(finds_tests))
}

/// Whether a client is told to speak with a cluster that runs on this machine, and with no other one.
pub(super) fn is_on_local_cluster(invocation: &Invocation) -> bool {
    let local = words!("local-clusters");
    let mut named = false;
    let mut words = invocation.before_dashes();
    while let Some(word) = words.next() {
        let (option, attached) = match word.text.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word.text.as_str(), None),
        };
        match option {
            "--server" | "-s" | "--kube-apiserver" => return false,
            "--context" | "--kube-context" | "--cluster" => {
                let value = attached.or_else(|| words.next().map(|word| word.text.as_str()));
                let is_local = |name: &str| local.iter().any(|one| glob(one, name));
                if !value.is_some_and(is_local) {
                    return false;
                }
                named = true;
            }
            _ => {}
        }
    }
    named
}

/// Whether the project keeps settings of its own for tests, without which a framework takes those of every day.
pub(super) fn has_settings_for_tests(invocation: &Invocation) -> bool {
    let dir = invocation.work_dir.as_ref();
    dir.is_some_and(|dir| dir.join(".env.testing").exists())
}

/// Whether what is named last is there for tests, by its name: `app_test`, `tmp-3`.
pub(super) fn is_named_for_tests(invocation: &Invocation) -> bool {
    invocation
        .operands()
        .last()
        .is_some_and(|word| says_test(&word.text))
}

/// Whether a process is there to protect, to record or to ask.
pub(super) fn is_protector(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    // What is built here may have such a name.
    if lower.contains('/') {
        return false;
    }
    lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|part| words!("protectors").contains(&part))
}

/// Whether an argument opens something to everybody.
pub(super) fn is_open_to_all(digest: &Digest<'_>) -> bool {
    digest.invocation.arguments.iter().any(|w| {
        let value = w.text.rsplit('=').next().unwrap_or(&w.text);
        matches!(
            value.to_ascii_lowercase().as_str(),
            "*" | "0.0.0.0/0" | "::/0" | "internet" | "any" | "0.0.0.0"
        )
    })
}

/// Whether the input tells a console to drop or empty something.
pub(super) fn is_given_drop(digest: &Digest<'_>) -> bool {
    let Stdin::Text(text) = &digest.invocation.stdin else {
        return false;
    };
    text.split(['\n', ';']).any(|line| {
        let command = line.split_whitespace().next().unwrap_or_default();
        words!("console-drops").contains(&command.to_ascii_lowercase().as_str())
    })
}

/// Whether a setting of git sends what is meant for one host to another: `url.https://a/.insteadOf https://b/`.
pub(super) fn redirects_remote(words: &[&Word]) -> bool {
    let host = |text: &str| {
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
        rest.split(['/', ':']).next().unwrap_or_default().to_owned()
    };
    words.windows(2).any(|pair| {
        let [name, value] = pair else {
            return false;
        };
        let lower = name.text.to_ascii_lowercase();
        let Some(target) = lower.strip_prefix("url.").and_then(|rest| {
            rest.strip_suffix(".insteadof")
                .or_else(|| rest.strip_suffix(".pushinsteadof"))
        }) else {
            return false;
        };
        let (target, meant) = (host(target), host(&value.text.to_ascii_lowercase()));
        target.contains('.') && meant.contains('.') && target != meant
    })
}

/// Whether a word can be a path for `cmd`, not one of its switches such as `/s`.
pub(super) fn is_windows_path(text: &str) -> bool {
    !(text.starts_with('/') && text.len() <= 3)
}

/// Returns a path without the dot that is left of `.\\` once a shell has taken the backslash for a quote.
pub(super) fn without_dot(word: &Word) -> Word {
    Word {
        text: word.text.trim_start_matches(['.', '\\']).to_owned(),
        ..word.clone()
    }
}

/// Whether a program of PowerShell lists a directory with all below it.
pub(super) fn lists_tree(invocation: &Invocation) -> bool {
    let recurses = |text: &str| text.starts_with("-rec");
    matches!(
        invocation.program.as_str(),
        "get-childitem" | "gci" | "dir" | "ls"
    ) && (invocation.arguments.iter()).any(|w| recurses(&w.text.to_ascii_lowercase()))
}
