//! Names that tell what a thing is for: tasks, tests, playing fields of agents, addresses of stores, options of cmdlets.

use crate::danger::digest::Digest;
use crate::danger::words::words;
use crate::shell::Invocation;
use crate::shell::Stdin;
use crate::shell::Word;

/// Whether the first word is the name of a task that drops or destroys: `db:drop`, `reset-db`, `nuke`.
pub(super) fn is_destroying_task(words: &[&Word]) -> bool {
    let Some(task) = words.first() else {
        return false;
    };
    let lower = task.text.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split([':', '-', '_', '.', '/']).collect();
    let has = |names: &[&str]| parts.iter().any(|part| names.contains(part));
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
            || of_store
                && has(&[
                    "drop", "reset", "purge", "erase", "clean", "delete", "truncate",
                ]))
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

/// Whether the project keeps settings of its own for tests, without which a framework takes those of every day.
pub(super) fn has_settings_for_tests(invocation: &Invocation) -> bool {
    let dir = invocation.work_dir.as_ref();
    dir.is_some_and(|dir| dir.join(".env.testing").exists())
}

/// Whether what is named last is there for tests, by its name: `app_test`, `tmp-3`.
pub(super) fn is_named_for_tests(invocation: &Invocation) -> bool {
    invocation.operands().last().is_some_and(|word| {
        word.text
            .split(|c: char| !c.is_ascii_alphabetic())
            .any(|part| matches!(part, "test" | "tests" | "testing" | "tmp" | "scratch"))
    })
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
