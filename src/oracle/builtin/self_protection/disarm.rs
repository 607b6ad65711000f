//! Commands that disarm the policy without naming a file of it: `ahp` itself, its processes, variables, other agents.

use std::collections::HashSet;
use std::path::Path;

use super::found::{Found, act};
use super::judged::Judged;
use super::{agent, binary, git, own, packages, twin};
use crate::config::OWN_VARIABLES;
use crate::host::{HOSTS, Host};
use crate::place::Place;
use crate::program;
use crate::program::Fact;
use crate::search;
use crate::shell::program_name;

/// Whether an environment variable changes what guards an agent: one of ours, or one that sets a host's hooks aside.
fn disarms(variable: &str) -> bool {
    let of_host = |host: &&Host| host.switches.variables.contains(&variable);
    OWN_VARIABLES.contains(&variable) || HOSTS.iter().any(of_host)
}

/// Commands that disarm without touching a file that they name.
pub(super) fn find(invocation: &Judged<'_>) -> Option<Found> {
    let program = invocation.program.as_str();
    let operands: Vec<&str> = invocation.operands().map(|w| w.text.as_str()).collect();
    let has = |text: &str| invocation.arguments.iter().any(|w| w.text == text);
    if invocation.environment.iter().any(|(name, _)| disarms(name)) {
        return Some(act("set a variable that disarms the policy"));
    }
    let by_ours = own::find(invocation)
        .or_else(|| packages::find(invocation))
        .or_else(|| twin::find(invocation));
    if by_ours.is_some() {
        return by_ours;
    }
    match program {
        "export" | "declare" | "typeset" | "readonly" | "unset" | "setx" | "launchctl" => {
            let names = operands.iter().map(|text| text.split('=').next());
            if names.flatten().any(disarms) {
                return Some(act("set a variable that disarms the policy"));
            }
        }
        "pkill" | "killall" | "taskkill" | "skill" if operands.iter().any(|text| is_ahp(text)) => {
            return Some(act("end `ahp`"));
        }
        "kill" => {
            let picks_ahp = invocation.arguments.iter().any(|word| {
                invocation
                    .analysis
                    .invocations
                    .get(word.made_by.clone())
                    .unwrap_or_default()
                    .iter()
                    .any(|i| i.arguments.iter().any(|w| is_ahp(&w.text)))
            }) || invocation
                .analysis
                .invocations
                .get(invocation.fed_by.clone())
                .unwrap_or_default()
                .iter()
                .any(|i| {
                    matches!(i.program.as_str(), "pgrep" | "pidof" | "grep")
                        && i.arguments.iter().any(|w| is_ahp(&w.text))
                });
            if picks_ahp {
                return Some(act("end `ahp`"));
            }
        }
        name if SETTERS.contains(&name)
            && operands
                .iter()
                .filter_map(|text| text.split('=').next())
                .any(disarms) =>
        {
            return Some(act("set a variable that disarms the policy"));
        }
        "systemctl" | "service"
            if !operands.contains(&"status")
                && operands
                    .iter()
                    .any(|text| is_ahp(text.trim_end_matches(".service"))) =>
        {
            return Some(act("stop `ahp`"));
        }
        "git" | "hub" => return git::find(invocation, &operands),
        name if program::find(name).is_with(Fact::ReplacesHooks, &[operands.first().copied()])
            && invocation.guarded.has_wires() =>
        {
            return Some(act("take away the hooks that `ahp` has put into git"));
        }
        "env"
            if (has("-i") || has("--ignore-environment"))
                && operands
                    .iter()
                    .any(|text| Host::agent_of(&program_name(text)).is_some()) =>
        {
            return Some(act("start an agent without its hooks"));
        }
        _ => return agent::find(invocation),
    }
    None
}

/// Programs that set a variable for what starts later.
const SETTERS: &[&str] = &[
    "dbus-update-activation-environment",
    "set",
    "setenv",
    "systemctl",
    "tmux",
];

fn is_ahp(text: &str) -> bool {
    // A pattern that meets its name, or a whole command line.
    let name = text.split(' ').next().unwrap_or_default();
    let name = name.trim_start_matches('^').trim_end_matches('$');
    binary::is_named(&name.trim_end_matches(".exe").replace("[a]", "a"))
}

/// Files from which shells and sessions take their variables and commands, by the ends of their paths.
const START_FILES: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".config/systemd/user/*",
    ".cshrc",
    ".envrc",
    ".kshrc",
    ".login",
    ".pam_environment",
    ".profile",
    ".tcshrc",
    ".xprofile",
    ".xsessionrc",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "environment.d/*",
    "etc/bash.bashrc",
    "etc/environment",
    "etc/profile",
    "etc/profile.d/*",
    "etc/zsh/*",
    "fish/conf.d/*",
    "fish/config.fish",
    "fish/functions/*",
];

/// Files of programs that give variables to what they start, and hold much else beside.
const VARIABLE_FILES: &[&str] = &[
    ".config/plasma-workspace/env/*",
    ".devcontainer/devcontainer.json",
    ".env",
    ".mise.toml",
    ".ssh/config",
    ".ssh/environment",
    ".tmux.conf",
    ".vscode/settings.json",
    ".zed/settings.json",
    "mise.toml",
    "mise/config.toml",
    "nushell/*.nu",
    "systemd/*.conf",
    "systemd/user/*/*",
    "tmux/tmux.conf",
];

fn gives_variables(path: &Path) -> bool {
    VARIABLE_FILES.iter().any(|end| ends_with(path, end))
}

/// Returns the words that matter in a file: what stands there is in force the next time that something starts.
fn words_of(path: &Path) -> impl Iterator<Item = String> {
    let is_start = START_FILES.iter().any(|end| ends_with(path, end));
    let gives = !is_start && gives_variables(path);
    // A program that reads it is rarely one of ours: what only says where things lie matters little there.
    let is_env = ends_with(path, ".env");
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
