//! Own: the commands of `ahp` that no agent gives.

use super::binary::NAMES;
use super::found::{Found, act};
use super::judged::Judged;
use crate::event::Trigger;
use crate::host::Host;
use crate::process;
use crate::program::Fact;
use crate::shell::{Invocation, Word, program_name};
use crate::words::words;

/// The commands of the program that are refused whatever words stand behind them but a question …
const REFUSED: &[&str] = words!("own-refused");

/// … and those that are with some words.
const REFUSED_WITH: &[&str] = words!("own-refused-with");

/// Words with which a command only tells what it would do.
const TRIES: &[&str] = &["--dry-run", "--help", "-h"];

/// Whether a word is a command of the program that is refused, always or with some words.
fn may_be_refused(word: &str) -> bool {
    is_refused(word) || REFUSED_WITH.contains(&word)
}

/// Whether a word is a command of the program that is always refused.
pub(super) fn is_refused(word: &str) -> bool {
    REFUSED.contains(&word)
}

/// The commands of `ahp bundle` that change what is in force on the machine.
const CHANGES_BUNDLE: &[&str] = &["break-glass", "install", "pull", "rollback"];

/// The commands that change nothing that guards an agent, whatever words stand behind them.
const HARMLESS: &[&str] = words!("own-harmless");

/// The commands behind whose `--` another program stands, which is judged by itself.
const STARTERS: &[&str] = &["exec", "mcp", "shield"];

/// The same of commands that have others, each with those.
const HARMLESS_OF: &[(&str, &[&str])] = &[
    ("hook-md", &["list", "validate"]),
    (
        "log",
        &["export", "report", "show", "stats", "tail", "verify"],
    ),
    ("oracle", &["list", "reference", "run", "show"]),
];

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
    let runs_files = known.is(Fact::Language);
    let starts = known.is(Fact::RunsValues) || known.is(Fact::Types) || runs_files;
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
                || ((runs_files || word.text.contains('/'))
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
fn is_telling(invocation: &Judged<'_>) -> bool {
    let names_host = || invocation.texts().any(|word| Host::find(word).is_some());
    match invocation.first() {
        "uninstall" => names_host() || invocation.has_word(&["--all"]),
        "install" => {
            let loosens = |word: &str| word.starts_with("--http") || word == "--optional";
            invocation.texts().any(loosens) && names_host()
        }
        "allow" | "trust" => invocation.has_word(&["-y", "--yes"]),
        "respond" => invocation.has_word(&["proceed_with_risk", "--by", "--by=human"]),
        _ => false,
    }
}

/// Whether a word is known only when the command runs, or is one of several.
fn is_open(word: &Word) -> bool {
    word.dynamic || word.each || word.glob
}

/// Whether words decide over a command that are known only when it runs.
fn hides_words(invocation: &Judged<'_>, command: &str) -> bool {
    let mut operands = invocation.operands();
    let first = operands.next();
    if first.is_some_and(is_open) {
        return true;
    }
    // What stands before the command may be one as well.
    let is_first = |word: &Word| first.is_some_and(|first| std::ptr::eq(word, first));
    let mut before = invocation
        .arguments
        .iter()
        .take_while(|word| !is_first(word));
    if before.any(is_open) {
        return true;
    }
    if HARMLESS.contains(&command) {
        return false;
    }
    let mut nested = HARMLESS_OF.iter();
    if let Some((_, harmless)) = nested.find(|(name, _)| *name == command) {
        let second = operands.next();
        let is_known = second.is_none_or(|word| harmless.contains(&word.text.as_str()));
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
    let operands: Vec<&str> = invocation.operands().map(|w| w.text.as_str()).collect();
    let tells = |options: &[&str]| {
        let mut names = invocation.texts().filter_map(|text| text.split('=').next());
        names.any(|name| options.contains(&name))
    };
    // The value of `--format` is not a command.
    let mut commands = operands.iter().filter(|o| !matches!(**o, "json" | "human"));
    let command = commands.next().copied().unwrap_or_default();
    if hides_words(invocation, command) {
        return Some(act("run `ahp` with words that are known only when it runs"));
    }
    if let Some(what) = plainly_refused(invocation, command, &tells) {
        return Some(act(what));
    }
    // Another policy, or one that only advises, is for the machine's owner to bring.
    let bundle = match command {
        "bundle" => commands.next(),
        "fleet" => (commands.find(|word| **word == "bundle")).and(commands.next()),
        _ => None,
    };
    if bundle.is_some_and(|word| CHANGES_BUNDLE.contains(word)) && !invocation.has_word(&["--help"])
    {
        return Some(act("change the signed policy of this machine"));
    }
    // Where records go, and which, is for the machine's owner to say.
    let is_fleet = command == "fleet" || invocation.program == "ahp-fleet";
    let aims = || {
        let own = invocation.environment.iter();
        let mut variables = own.chain(&invocation.analysis.assignments);
        let is_proxy = |name: &str| name.to_ascii_lowercase().ends_with("_proxy");
        let aims =
            |name: &str| name.starts_with("OTEL_") || name == "AHP_MACHINE_ID" || is_proxy(name);
        tells(&["--to", "--log"]) || variables.any(|(name, _)| aims(name))
    };
    if is_fleet && operands.contains(&"ship") && aims() && !invocation.has_word(TRIES) {
        return Some(act("carry the log to a place that its owner has not named"));
    }
    let by = invocation.value_of(&["--by"]);
    let stdin = invocation.stdin.text();
    let hides_human =
        invocation.has_word(&["--stdin"]) && stdin.is_none_or(|text| text.contains("human"));
    let is_by_human = by.is_some_and(|by| by.text != "agent") || hides_human;
    (command == "respond" && is_by_human).then(|| act("answer in a person's name"))
}

/// Whether a word is a trigger of what has happened.
fn names_past(invocation: &Judged<'_>) -> bool {
    let mut triggers = invocation.texts().filter_map(Trigger::find);
    triggers.any(|trigger| !trigger.is_pre())
}

/// Returns what is refused of a command by its words alone.
fn plainly_refused(
    invocation: &Judged<'_>,
    command: &str,
    tells: &dyn Fn(&[&str]) -> bool,
) -> Option<&'static str> {
    let has = |words: &[&str]| invocation.has_word(words);
    let asks_for_help = has(&["--help", "-h"]);
    Some(match command {
        "trust" if !has(&["--show", "--diff", "--help", "--list"]) => {
            "trust programs that no person has read"
        }
        // Only a host gives events, and stops of a session count until one is let through.
        "hook" | "serve" if !has(&["--help"]) => "tell `ahp` of an event that did not happen",
        // A gate may be asked; that something was done is for those to tell who have seen it.
        "run" if tells(&["--session", "--event", "--events"]) || names_past(invocation) => {
            "tell `ahp` of an event that did not happen"
        }
        // It lets programs run that the base has, and its base is CI's to tell.
        "ci" if !asks_for_help => "tell the gate of CI what it judges",
        "run" if tells(&["--base"]) && !asks_for_help => "tell the gate of CI what it judges",
        "mcp" if has(&["lock"]) => "approve tools that no person has read",
        // It would lie where no agent may write.
        "hook-md" | "oracle" if has(&["new"]) && !asks_for_help => "make a hook or an oracle",
        "session" if has(&["forget"]) => "forget what was counted",
        "uninstall" => "take the policy's wires out",
        // Whoever listens there would judge in the place of `ahp`.
        "install" if tells(&["--http"]) && !has(TRIES) => {
            "have another server asked in the place of this policy"
        }
        "install" if tells(&["--optional"]) && !has(TRIES) => {
            "let everything pass where `ahp` is missing"
        }
        "edit" | "allow" => "change the policy",
        "log" if has(&["--apply"]) => "change the policy",
        "init" if has(&["--force", "-f"]) => "write the policy anew",
        _ => return None,
    })
}
