//! Own: the commands of `ahp` that no agent gives.

use super::binary::{NAMES, may_be_refused};
use super::found::{Found, act};
use super::judged::Judged;
use crate::host::Host;
use crate::process;
use crate::program::Fact;
use crate::shell::{Invocation, Word, program_name};

/// The commands of `ahp bundle` that change what is in force on the machine.
const CHANGES_BUNDLE: &[&str] = &["break-glass", "install", "pull", "rollback"];

/// The commands that change nothing that guards an agent, whatever words stand behind them.
const HARMLESS: &[&str] = &[
    "check",
    "completions",
    "demo",
    "doctor",
    "explain",
    "help",
    "hook-md",
    "oracle",
    "replay",
    "schema",
    "test",
];

/// The commands behind whose `--` another program stands, which is judged by itself.
const STARTERS: &[&str] = &["exec", "mcp", "shield"];

/// The same of `ahp log`.
const HARMLESS_OF_LOG: &[&str] = &["export", "report", "show", "stats", "tail", "verify"];

/// Finds a command that only a person gives, whatever the program is called that gets it.
pub(super) fn find(invocation: &Judged<'_>) -> Option<Found> {
    let is_named = NAMES.contains(&invocation.program.as_str());
    if let Some(found) = launched(invocation) {
        return Some(found);
    }
    if !is_named && !may_be_ours(invocation) {
        return None;
    }
    let found = refused(invocation)?;
    if is_named || is_our_file(invocation) {
        return Some(found);
    }
    let is_told = is_telling(invocation) && is_nowhere(invocation);
    is_told.then(|| act("run what may be `ahp`, with a command that only a person gives"))
}

/// A command of ours among the words of a program that may start it: of which nothing is known, or that runs some of them.
fn launched(invocation: &Judged<'_>) -> Option<Found> {
    let known = invocation.known();
    let starts = known.is(Fact::RunsValues) || known.is(Fact::Types);
    if invocation.remote || (known.is_known() && !starts) {
        return None;
    }
    let mut words = invocation.arguments.iter().enumerate();
    words.find_map(|(at, word)| {
        let behind = invocation.arguments.get(at + 1..)?;
        let behind = behind.strip_prefix(&[Word::plain("--")]).unwrap_or(behind);
        // Most words are followed by no command of ours.
        let first = behind.iter().find(|word| !word.is_option())?;
        let is_command = may_be_refused(&first.text);
        let is_ours = || {
            NAMES.contains(&&*program_name(&word.text))
                || (word.text.contains('/')
                    && invocation.guarded.is_own(&invocation.path_of(&word.text)))
        };
        (is_command && is_ours()).then(|| {
            refused(&invocation.other(&Invocation {
                program: "ahp".to_owned(),
                arguments: behind.to_vec(),
                ..Invocation::default()
            }))
        })?
    })
}

/// Whether a program that is called otherwise may be ours by another name: most are told from it by the first word that they
/// are given, and those that are known by their names.
fn may_be_ours(invocation: &Judged<'_>) -> bool {
    let is_path = invocation.path.text.contains('/') || invocation.path.dynamic;
    let first = invocation.operands().next();
    let is_command = first.is_some_and(|word| may_be_refused(&word.text));
    !invocation.remote
        && (is_command || (is_path && first.is_some_and(is_open)))
        && (is_path || !invocation.known().is_known())
}

/// Whether the file that is run is our program.
fn is_our_file(invocation: &Judged<'_>) -> bool {
    let path = invocation.path.text.as_str();
    if path.contains('/') {
        return invocation.guarded.is_own(&invocation.path_of(path));
    }
    process::installed(path).is_some_and(|path| invocation.guarded.is_own(&path))
}

/// Whether nobody can look at the file that would be run: it is not there yet, or is named by a descriptor or a variable.
fn is_nowhere(invocation: &Judged<'_>) -> bool {
    let path = invocation.path.text.as_str();
    invocation.path.dynamic
        || path.starts_with("/proc/")
        || path.starts_with("/dev/fd/")
        || (path.contains('/') && !invocation.path_of(path).exists())
}

/// Whether words say what hardly any other program takes: a command of ours, with a host of ours or without a question.
fn is_telling(invocation: &Invocation) -> bool {
    let words = || invocation.arguments.iter().map(|word| word.text.as_str());
    let first = invocation
        .operands()
        .next()
        .map_or("", |word| word.text.as_str());
    let names_host = || words().any(|word| Host::find(word).is_some());
    match first {
        "uninstall" => names_host() || words().any(|word| word == "--all"),
        "install" => {
            let loosens = |word: &str| word.starts_with("--http") || word == "--optional";
            words().any(loosens) && names_host()
        }
        "allow" | "trust" => words().any(|word| matches!(word, "-y" | "--yes")),
        "respond" => {
            words().any(|word| matches!(word, "proceed_with_risk" | "--by" | "--by=human"))
        }
        _ => false,
    }
}

/// Whether a word is known only when the command runs, or is one of several.
fn is_open(word: &Word) -> bool {
    word.dynamic || word.each || word.glob
}

/// Whether words decide over a command that are known only when it runs.
fn hides_words(invocation: &Invocation, command: &str) -> bool {
    let mut operands = invocation.operands();
    let first = operands.next();
    if first.is_some_and(is_open) {
        return true;
    }
    // What stands before the command may be one as well.
    let mut before = invocation.arguments.iter();
    if before
        .by_ref()
        .take_while(|word| !first.is_some_and(|first| std::ptr::eq(*word, first)))
        .any(is_open)
    {
        return true;
    }
    if HARMLESS.contains(&command) {
        return false;
    }
    if command == "log" {
        let second = operands.next();
        let is_known = second.is_none_or(|word| HARMLESS_OF_LOG.contains(&word.text.as_str()));
        return !is_known && invocation.arguments.iter().any(is_open);
    }
    if STARTERS.contains(&command) {
        // An inner command of `exec` needs no dashes.
        return command != "exec" && invocation.before_dashes().any(is_open);
    }
    invocation.arguments.iter().any(is_open)
}

/// Returns what is refused of a command, if the program is ours.
fn refused(invocation: &Judged<'_>) -> Option<Found> {
    let program = invocation.program.as_str();
    let operands: Vec<&str> = invocation.operands().map(|w| w.text.as_str()).collect();
    let has = |text: &str| invocation.arguments.iter().any(|w| w.text == text);
    let tells = |option: &str| {
        let mut words = invocation.arguments.iter();
        words.any(|w| w.text.split('=').next() == Some(option))
    };
    // The value of `--format` is not a command.
    let mut commands = operands.iter().filter(|o| !matches!(**o, "json" | "human"));
    let command = commands.next().copied().unwrap_or_default();
    if hides_words(invocation, command) {
        return Some(act("run `ahp` with words that are known only when it runs"));
    }
    let asks_for_help = has("--help") || has("-h");
    let only_shows = ["--show", "--diff", "--help", "--list"]
        .iter()
        .any(|o| has(o));
    if command == "trust" && !only_shows {
        return Some(act("trust programs that no person has read"));
    }
    // Another policy, or one that only advises, is for the machine's owner to bring.
    let bundle = match command {
        "bundle" => commands.next(),
        "fleet" => commands
            .find(|word| **word == "bundle")
            .and(commands.next()),
        _ => None,
    };
    if bundle.is_some_and(|word| CHANGES_BUNDLE.contains(word)) && !has("--help") {
        return Some(act("change the signed policy of this machine"));
    }
    // Where records go, and which, is for the machine's owner to say.
    let ships = (command == "fleet" || program == "ahp-fleet") && operands.contains(&"ship");
    let aims = || {
        let mut variables = invocation
            .environment
            .iter()
            .chain(&invocation.analysis.assignments);
        let aims = |name: &str| name.starts_with("OTEL_") || name == "AHP_MACHINE_ID";
        ["--to", "--log"].into_iter().any(tells) || variables.any(|(name, _)| aims(name))
    };
    if ships && aims() && !has("--dry-run") && !asks_for_help {
        return Some(act("carry the log to a place that its owner has not named"));
    }
    // Only a host gives events, and only a person's own terminal gives a person's answers.
    if matches!(command, "hook" | "serve") && !has("--help") {
        return Some(act("tell `ahp` of an event that did not happen"));
    }
    // Stops of a session count until one is let through.
    if command == "run" && ["--session", "--event", "--events"].into_iter().any(tells) {
        return Some(act("tell `ahp` of an event that did not happen"));
    }
    // The gate of CI lets programs run that the base has, and its base is CI's to tell.
    if (command == "ci" || command == "run" && tells("--base")) && !asks_for_help {
        return Some(act("tell the gate of CI what it judges"));
    }
    if command == "mcp" && operands.contains(&"lock") {
        return Some(act("approve tools that no person has read"));
    }
    if command == "session" && has("forget") {
        return Some(act("forget what was counted"));
    }
    if command == "uninstall" {
        return Some(act("take the policy's wires out"));
    }
    // Whoever listens there would judge in the place of `ahp`.
    if command == "install" && tells("--http") && !has("--dry-run") && !asks_for_help {
        return Some(act("have another server asked in the place of this policy"));
    }
    if command == "install" && tells("--optional") && !has("--dry-run") && !asks_for_help {
        return Some(act("let everything pass where `ahp` is missing"));
    }
    if matches!(command, "edit" | "allow") || (command == "log" && has("--apply")) {
        return Some(act("change the policy"));
    }
    let by_human = invocation
        .value_of(&["--by"])
        .is_some_and(|by| by.text != "agent");
    let stdin = invocation.stdin.text();
    let hides_human = has("--stdin") && stdin.is_none_or(|text| text.contains("human"));
    if command == "respond" && (by_human || hides_human) {
        return Some(act("answer in a person's name"));
    }
    if command == "init" && (has("--force") || has("-f")) {
        return Some(act("write the policy anew"));
    }
    None
}
