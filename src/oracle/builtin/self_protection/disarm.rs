//! Commands that disarm the policy without naming a file of it: `ahp` itself, its processes, variables, other agents.

use std::path::Path;

use super::found::Found;
use super::found::act;
use super::git;
use super::guarded::Guarded;
use crate::program;
use crate::program::Fact;
use crate::shell::Analysis;
use crate::shell::Invocation;

/// Variables that change what guards an agent.
const DISARMING: &[&str] = &[
    "AHP_ON_CONFIG_ERROR",
    "AHP_TRUST",
    "AHP_HOME",
    "AHP_ENV",
    "AHP_STATE_DIR",
    "AHP_CONFIG",
    "GIT_CONFIG_GLOBAL",
];

/// Commands that disarm without touching a file that they name.
pub(super) fn find(
    guarded: &Guarded<'_>,
    analysis: &Analysis,
    invocation: &Invocation,
) -> Option<Found> {
    let program = invocation.program.as_str();
    let operands: Vec<&str> = invocation.operands().map(|w| w.text.as_str()).collect();
    let has = |text: &str| invocation.arguments.iter().any(|w| w.text == text);
    if invocation
        .environment
        .iter()
        .any(|(name, _)| DISARMING.contains(&name.as_str()))
    {
        return Some(act("set a variable that disarms the policy"));
    }
    match program {
        "export" | "declare" | "typeset" | "readonly" | "unset" | "setx" | "launchctl" => {
            let is_ours = |text: &str| {
                let name = text.split('=').next().unwrap_or(text);
                DISARMING.contains(&name)
            };
            if operands.iter().any(|text| is_ours(text)) {
                return Some(act("set a variable that disarms the policy"));
            }
        }
        "ahp" | "ahp-hooks" => {
            // The value of `--format` is no command.
            let mut commands = operands.iter().filter(|o| !matches!(**o, "json" | "human"));
            let command = commands.next().copied().unwrap_or_default();
            let only_shows = ["--show", "--diff", "--help", "--list"]
                .iter()
                .any(|o| has(o));
            if command == "trust" && !only_shows {
                return Some(act("trust programs that no person has read"));
            }
            // Only a host gives events, and only a person's own terminal gives a person's answers.
            if command == "hook" && !has("--help") {
                return Some(act("tell `ahp` of an event that did not happen"));
            }
            if matches!(command, "uninstall") {
                return Some(act("take the policy's wires out"));
            }
            if matches!(command, "edit") || (command == "log" && has("--apply")) {
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
        }
        "pkill" | "killall" | "taskkill" | "skill" if operands.iter().any(|text| is_ahp(text)) => {
            return Some(act("end `ahp`"));
        }
        "kill" => {
            let picks_ahp = invocation.arguments.iter().any(|word| {
                analysis
                    .invocations
                    .get(word.made_by.clone())
                    .unwrap_or_default()
                    .iter()
                    .any(|i| i.arguments.iter().any(|w| is_ahp(&w.text)))
            }) || analysis
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
        "systemctl" | "service"
            if !operands.contains(&"status")
                && operands
                    .iter()
                    .any(|text| is_ahp(text.trim_end_matches(".service"))) =>
        {
            return Some(act("stop `ahp`"));
        }
        "cargo" | "npm" | "pip" | "pip3" | "pipx" | "brew" | "uv" => {
            let removes = operands
                .iter()
                .any(|o| matches!(*o, "uninstall" | "remove" | "rm"));
            if removes && operands.iter().any(|o| matches!(*o, "ahp" | "ahp-hooks")) {
                return Some(act("remove `ahp`"));
            }
        }
        "git" => return git::find(guarded, invocation, &operands),
        "env"
            if (has("-i") || has("--ignore-environment"))
                && operands.iter().any(|text| is_agent(text)) =>
        {
            return Some(act("start an agent without its hooks"));
        }
        program if is_agent(program) => return by_agent(invocation, &operands),
        _ => {}
    }
    None
}

fn is_ahp(text: &str) -> bool {
    matches!(text, "ahp" | "ahp-hooks" | "ahp.exe" | "[a]hp")
        || text.starts_with("ahp ")
        || text.ends_with("/ahp")
        || text == "^ahp$"
}

fn is_agent(program: &str) -> bool {
    program::find(program).is(Fact::Agent)
}

/// Another agent that would run without the hooks that this one has.
fn by_agent(invocation: &Invocation, operands: &[&str]) -> Option<Found> {
    let text = invocation.display().to_lowercase();
    let skips = [
        "disableallhooks",
        "--bare",
        "--no-hooks",
        "--setting-sources",
        "dangerously-bypass-hook",
        "hooks.enabled=false",
        "features.hooks=false",
    ]
    .iter()
    .any(|w| text.contains(w));
    let inline = text.contains("--settings") && text.contains("hooks");
    // With another home it reads other settings.
    let elsewhere = invocation.environment.iter().any(|(name, _)| {
        name == "HOME"
            || name.starts_with("XDG_CONFIG")
            || name.ends_with("_CONFIG_DIR")
            || name.ends_with("_HOME")
    });
    if skips || inline || elsewhere {
        return Some(act("start an agent without its hooks"));
    }
    let changes = operands.first() == Some(&"config")
        && operands.iter().any(|o| o.to_lowercase().contains("hook"));
    changes.then(|| act("change the host's hooks"))
}

/// Files, or folders of files, with content that is in force the next time that something starts.
const BY_CONTENT: &[(&[&str], &str)] = &[
    (
        &[
            ".bash_aliases",
            ".bash_login",
            ".bash_logout",
            ".bash_profile",
            ".bashrc",
            ".config/environment.d",
            ".config/fish/conf.d",
            ".config/fish/functions",
            ".config/systemd/user",
            ".envrc",
            ".pam_environment",
            ".profile",
            ".xprofile",
            ".zlogin",
            ".zprofile",
            ".zshenv",
            ".zshrc",
            "config.fish",
            "/etc/bash.bashrc",
            "/etc/environment",
            "/etc/profile",
            "/etc/profile.d",
            "/etc/zsh",
        ],
        "ahp",
    ),
    (&[".vscode/settings.json"], "chat.usehooks"),
    (&[".vscode/settings.json"], "chat.hook"),
];

/// Returns what one of some texts would do when it is written into a file that others take their settings from.
pub(super) fn in_content<'a>(
    path: &Path,
    mut texts: impl Iterator<Item = &'a str>,
) -> Option<&'static str> {
    let words: Vec<&str> = BY_CONTENT
        .iter()
        .filter(|(files, _)| {
            let mut files = files.iter();
            files.any(|file| {
                path.ends_with(file) || path.parent().is_some_and(|dir| dir.ends_with(file))
            })
        })
        .map(|(_, word)| *word)
        .collect();
    let names = |text: &str, word: &str| {
        let lower = unescaped(text).to_lowercase();
        lower.match_indices(word).any(|(at, _)| {
            let is_letter = |c: char| c.is_alphanumeric();
            let before = lower.get(..at).and_then(|t| t.chars().next_back());
            let after = lower.get(at + word.len()..).and_then(|t| t.chars().next());
            !before.is_some_and(is_letter) && (word.contains('.') || !after.is_some_and(is_letter))
        })
    };
    let disarms = !words.is_empty() && texts.any(|text| words.iter().any(|w| names(text, w)));
    disarms.then_some("set what disarms the policy from the next start on")
}

/// Returns a text with its JSON escapes of ASCII characters read: `\u0075` is `u`.
fn unescaped(text: &str) -> String {
    let mut parts = text.split("\\u");
    let mut read = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part
            .get(..4)
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        if let Some(byte) = code.filter(u8::is_ascii) {
            read.push(char::from(byte));
            read.push_str(part.get(4..).unwrap_or_default());
        } else {
            read.push_str("\\u");
            read.push_str(part);
        }
    }
    read
}
