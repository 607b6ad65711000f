//! Commands that disarm the policy without naming a file of it: `ahp` itself, its processes, variables, other agents.

use std::collections::HashSet;
use std::path::Path;

use super::found::{Found, act};
use super::judged::Judged;
use super::{agent, binary, client, git, own, packages, twin};
use crate::config::OWN_VARIABLES;
use crate::host::{HOSTS, Host};
use crate::place::Place;
use crate::program::Fact;
use crate::search;
use crate::shell::program_name;
use crate::words::words;

/// Whether an environment variable changes what guards an agent: one of ours, or one that sets a host's hooks aside.
fn disarms(variable: &str) -> bool {
    let of_host = |host: &&Host| host.switches.variables.contains(&variable);
    OWN_VARIABLES.contains(&variable) || HOSTS.iter().any(of_host)
}

/// Commands that disarm without touching a file that they name.
pub(super) fn find(invocation: &Judged<'_>) -> Option<Found> {
    if invocation.environment.iter().any(|(name, _)| disarms(name)) {
        return Some(act("set a variable that disarms the policy"));
    }
    own::find(invocation)
        .or_else(|| client::find(invocation))
        .or_else(|| packages::find(invocation))
        .or_else(|| twin::find(invocation))
        .or_else(|| by_program(invocation))
}

fn by_program(invocation: &Judged<'_>) -> Option<Found> {
    let program = invocation.program.as_str();
    let operands: Vec<&str> = invocation.operands().map(|w| w.text.as_str()).collect();
    let sets_variable = || {
        operands
            .iter()
            .any(|text| text.split('=').next().is_some_and(disarms))
    };
    let names_ahp = || {
        operands
            .iter()
            .any(|text| is_ahp(text.trim_end_matches(".service")))
    };
    let what = match program {
        name if SETTERS.contains(&name) && sets_variable() => {
            "set a variable that disarms the policy"
        }
        "declare" | "export" | "typeset"
            if names_ahp()
                && invocation.has_short('f')
                && (program == "export" || invocation.has_short('x')) =>
        {
            "put something else in the place of `ahp`"
        }
        "pkill" | "killall" | "taskkill" | "skill" if names_ahp() => "end `ahp`",
        "kill" if picks_ahp(invocation) => "end `ahp`",
        "systemctl" | "service" if !operands.contains(&"status") && names_ahp() => "stop `ahp`",
        "git" | "hub" => return git::find(invocation, &operands),
        _ if (invocation.own()).is_with(Fact::ReplacesHooks, &[operands.first().copied()])
            && invocation.guarded.has_wires() =>
        {
            "take away the hooks that `ahp` has put into git"
        }
        "env"
            if invocation.has_word(&["-i", "--ignore-environment"])
                && operands.iter().any(is_agent) =>
        {
            "start an agent without its hooks"
        }
        _ => return agent::find(invocation),
    };
    Some(act(what))
}

fn is_agent(text: &&str) -> bool {
    Host::agent_of(&program_name(text)).is_some()
}

/// Whether the processes that are ended are looked up by our name.
fn picks_ahp(kill: &Judged<'_>) -> bool {
    let words = kill.arguments.iter();
    let looked_up = words.flat_map(|word| kill.makers(&word.made_by));
    let fed = kill.makers(&kill.fed_by).iter();
    let fed = fed.filter(|i| matches!(i.program.as_str(), "pgrep" | "pidof" | "grep"));
    let mut names = looked_up.chain(fed).flat_map(|i| &i.arguments);
    names.any(|word| is_ahp(&word.text))
}

/// Programs that set a variable for what starts later.
const SETTERS: &[&str] = words!("variable-setters");

fn is_ahp(text: &str) -> bool {
    // A pattern that meets its name, or a whole command line.
    let name = text.split(' ').next().unwrap_or_default();
    let name = name.trim_start_matches('^').trim_end_matches('$');
    binary::is_named(&name.trim_end_matches(".exe").replace("[a]", "a"))
}

/// Files from which shells and sessions take their variables and commands, by the ends of their paths.
const START_FILES: &[&str] = words!("start-files");

/// Files of programs that give variables to what they start, and hold much else beside.
const VARIABLE_FILES: &[&str] = words!("variable-files");

fn gives_variables(path: &Path) -> bool {
    VARIABLE_FILES.iter().any(|end| ends_with(path, end))
}

/// Returns the words that matter in a file: what stands there is in force the next time that something starts.
fn words_of(path: &Path) -> impl Iterator<Item = String> {
    let is_start = START_FILES.iter().any(|end| ends_with(path, end));
    let gives = !is_start && gives_variables(path);
    // A program that reads it is rarely one of ours: what only says where things lie matters little there.
    // In a hidden folder it is that of one program, and agents have such folders: `.gemini/.env`.
    let folder = path.parent().and_then(Path::file_name);
    let is_own = folder.is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let is_env = ends_with(path, ".env") && !is_own;
    let variables = HOSTS.iter().flat_map(move |host| {
        let moving = host.places().filter_map(Place::variable);
        // Many programs have their place in the directory of the person's configuration.
        let own = moving.filter(|name| !name.starts_with("XDG_"));
        let own = own.filter(move |_| !is_env);
        host.switches.variables.iter().copied().chain(own)
    });
    let loosens = |name: &str| matches!(name, "AHP_ON_CONFIG_ERROR" | "AHP_TRUST");
    let own = OWN_VARIABLES.iter().copied();
    let own = own.filter(move |name| gives && (!is_env || loosens(name)));
    let of_start = std::iter::once("ahp")
        .filter(move |_| is_start)
        .chain(variables.filter(move |_| is_start || gives))
        .chain(own);
    let words = HOSTS.iter().flat_map(|host| host.switches.words);
    let of_host = words
        .filter(|(files, _)| files.iter().any(|end| ends_with(path, end)))
        .flat_map(|(_, words)| words.iter().copied());
    of_start.chain(of_host).map(str::to_lowercase)
}

/// Whether the last names of a path are these, each of which may be a pattern.
fn ends_with(path: &Path, end: &str) -> bool {
    let mut names = path.iter().rev();
    end.rsplit('/').all(|wanted| {
        let name = names.next().map(|name| name.to_string_lossy());
        name.is_some_and(|name| {
            name == wanted || (wanted.contains('*') && fast_glob::glob_match(wanted, &*name))
        })
    })
}

/// Returns what one of some texts would do when it is written into a file that others take their settings from.
pub(super) fn in_content<'a>(
    path: &Path,
    mut texts: impl Iterator<Item = &'a str>,
) -> Option<&'static str> {
    let words: Vec<String> = words_of(path).collect();
    let names = |text: &str, word: &str| {
        let lower = agent::unescaped(text).to_lowercase();
        lower.match_indices(word).any(|(at, _)| {
            let is_letter = |c: char| c.is_alphanumeric();
            let before = lower.get(..at).and_then(|t| t.chars().next_back());
            let after = lower.get(at + word.len()..).and_then(|t| t.chars().next());
            !before.is_some_and(is_letter) && (word.contains('.') || !after.is_some_and(is_letter))
        })
    };
    // What such a file says already is not new.
    let plain = |line: &str| line.trim().trim_end_matches(',').to_owned();
    let present = || -> HashSet<String> {
        let text = gives_variables(path).then(|| search::read(path)).flatten();
        text.iter()
            .flat_map(|text| text.lines().map(plain))
            .collect()
    };
    let disarms = |text: &str| words.iter().any(|word| names(text, word));
    let adds = |text: &str| {
        let present = present();
        let is_new = |line: &&str| !present.contains(&plain(line));
        let added: Vec<&str> = text.lines().filter(is_new).collect();
        disarms(&added.join("\n"))
    };
    let disarms = !words.is_empty() && texts.any(|text| disarms(text) && adds(text));
    disarms.then_some("set what disarms the policy from the next start on")
}
