//! Another agent, started without the hooks that this one has, and what an agent's own commands do to its hooks.

use super::found::{Found, act};
use super::guarded::SEARCHED;
use super::judged::Judged;
use crate::config::OWN_PLACES;
use crate::host::{Host, OUR_PLUGIN, PLUGIN_REMOVALS};
use crate::place::Place;
use crate::program::{self, Fact};
use crate::search;
use crate::shell::{Invocation, PathEffect, Word, program_name};
use crate::words::{holds_any, words};

/// Options of an agent that few other programs have: whoever takes one may be that agent under another name.
const TELLING: &[&str] = &["--no-hooks", "--plugin-dir", "--plugin-url", "--safe-mode"];

/// Variables by which a program runs code of somebody else, and so do the hooks that it starts.
const PRELOADS: &[&str] = words!("preloads");

/// Another agent that would run without the hooks that this one has, or with code in it that can pass them by.
pub(super) fn find(invocation: &Judged<'_>) -> Option<Found> {
    let operands: Vec<&str> = invocation.operands().map(|w| w.text.as_str()).collect();
    let (host, own) = started(invocation, &operands)?;
    let operands = operands.get(own..).unwrap_or_default();
    let switches = &host.switches;
    let text = told(invocation);
    // Whether this host knows it or not, this word means it.
    let skips = text.contains("--no-hooks") || holds_any(&text, switches.flags);
    let inline = (switches.settings.iter()).any(|option| brings_settings(invocation, host, option));
    // With another home it reads other settings.
    let moving = || {
        OWN_PLACES
            .iter()
            .chain(host.places())
            .filter_map(Place::variable)
    };
    // What the line sets before may hold for it too.
    let mut set = (invocation.environment.iter()).chain(&invocation.analysis.assignments);
    let elsewhere = set.any(|(name, value)| match name.as_str() {
        "HOME" => true,
        "PATH" => misleads(invocation, value),
        "NODE_OPTIONS" => holds_any(&value.text, &["-r", "import", "loader", "require"]),
        // Those about certificates run nothing.
        name if PRELOADS.contains(&name) => !holds_any(name, &["SSL", "TLS"]),
        name => moving().any(|variable| variable == name),
    });
    if skips || inline || elsewhere {
        return Some(act("start an agent without its hooks"));
    }
    // The value of an option may stand before the command, and a prompt is one word.
    let words = operands.iter().filter(|o| !o.contains(char::is_whitespace));
    let command = words.fold(" ".to_owned(), |line, word| format!("{line}{word} "));
    let command = command.replace(" plugins ", " plugin ");
    let is_given = |with: &&str| command.contains(&format!(" {with} "));
    if switches.commands.iter().any(is_given) {
        return Some(act("bring code into the host that can pass its hooks by"));
    }
    let takes_ours = |removal: &&str| takes_ours(invocation, host, &command, removal);
    if switches.plugins && PLUGIN_REMOVALS.iter().any(takes_ours) {
        return Some(act("take away the plugin that brings the hooks of `ahp`"));
    }
    let changes = operands.first() == Some(&"config")
        && operands.iter().any(|o| o.to_lowercase().contains("hook"));
    changes.then(|| act("change the host's hooks"))
}

/// Whether the hooks of an agent may come to another `ahp` by a search path, or to none. What stood in it before has to stay, and
/// what is new has to be a folder in which nobody can put an `ahp` unseen.
fn misleads(invocation: &Judged<'_>, path: &Word) -> bool {
    let holds_none = |dir: &str| {
        let is_searched = SEARCHED.contains(&dir.rsplit('/').next().unwrap_or(dir));
        let file = invocation.path_of(&format!("{dir}/ahp"));
        is_searched && (file.symlink_metadata().is_err() || invocation.guarded.is_own(&file))
    };
    let dirs = path.text.split(':');
    let mut new = dirs
        .filter(|dir| !dir.is_empty() && !dir.starts_with('$'))
        .peekable();
    !path.dynamic || new.peek().is_none() || !new.all(holds_none)
}

/// Returns the host whose program this is, or whose program an interpreter runs, and how many operands stand before its own.
fn started(invocation: &Judged<'_>, operands: &[&str]) -> Option<(&'static Host, usize)> {
    let program = invocation.program.as_str();
    if let Some(host) = Host::agent_of(program) {
        return Some((host, 0));
    }
    if program::find(program).is(Fact::Language) {
        let place = operands.iter().position(|o| host_of_package(o).is_some())?;
        return Some((host_of_package(operands.get(place)?)?, place + 1));
    }
    let path = &invocation.path.text;
    let is_path = path.contains('/');
    let path = is_path.then(|| invocation.path_of(path))?;
    Some((host_of_version(&path.to_string_lossy())?, 0))
}

/// Whether a program that nobody knows takes an option of an agent: a link to one, or a copy, has any name. It is named by its
/// path, or the same line makes it.
pub(super) fn may_be_one(invocation: &Judged<'_>) -> bool {
    let program = invocation.program.as_str();
    let is_made = || {
        let mut effects = invocation.analysis.writes().into_iter();
        effects.any(|effect| effect.path.ends_with(program))
    };
    let mut words = invocation.before_dashes();
    let is_told = words.any(|word| {
        let name = word.text.split('=').next();
        name.is_some_and(|name| TELLING.contains(&name))
    });
    is_told
        && !invocation.emulated
        && Host::agent_of(program).is_none()
        && !program::find(program).is_known()
        && (invocation.path.text.contains('/') || !program.is_empty() && is_made())
}

/// Whether a command of an agent takes our plugin away, as far as anybody can tell.
fn takes_ours(invocation: &Judged<'_>, host: &Host, command: &str, removal: &str) -> bool {
    let Some((_, names)) = command.split_once(&format!(" {removal} ")) else {
        return false;
    };
    let is_ours = |name: &str| name.to_lowercase().split('@').next() == Some(OUR_PLUGIN);
    // Settings write our plugin with the marketplace that it came from.
    let has_brought = |name: &str| {
        let named = format!("{OUR_PLUGIN}@{name}");
        let files = host
            .places()
            .filter_map(|place| invocation.guarded.roots().path(place));
        let mut texts = files.filter_map(|file| search::read(&file));
        texts.any(|text| text.contains(&named))
    };
    let mut arguments = invocation.arguments.iter();
    names.is_empty()
        || names.split(' ').any(is_ours)
        || removal.contains("marketplace") && names.split_whitespace().any(has_brought)
        || arguments.any(|word| {
            let is_open = word.dynamic || word.glob || word.each;
            is_open || matches!(word.text.as_str(), "--all" | "-a")
        })
}

/// Returns what the words of an agent tell the agent itself, in lower case and as a setting would be written most shortly:
/// `features.hooks=false`. Prompts only talk of such things.
fn told(invocation: &Invocation) -> String {
    let mut before = "";
    let words = invocation.arguments.iter().filter(|word| {
        let option = std::mem::replace(&mut before, word.text.as_str());
        let is_setting = option.starts_with('-')
            && !matches!(option, "-p" | "--print" | "--prompt")
            && word.text.contains(['=', '{']);
        word.is_option() || is_setting || !word.text.contains(char::is_whitespace)
    });
    let words: Vec<&str> = words.map(|word| word.text.as_str()).collect();
    let mut text = words.join(" ").to_lowercase().replace(['"', '\''], "");
    for sign in ['=', '{', '}', ','] {
        let mut parts = text.split(sign).map(str::trim);
        let first = parts.next().unwrap_or_default().to_owned();
        text = parts.fold(first, |line, part| format!("{line}{sign}{part}"));
    }
    text
}

/// Whether an option gives an agent settings that switch hooks, or that nobody can read.
fn brings_settings(invocation: &Judged<'_>, host: &Host, option: &str) -> bool {
    let is_given = invocation
        .before_dashes()
        .any(|word| word.text.split('=').next() == Some(option));
    let Some(value) = invocation.value_of(&[option]).filter(|_| is_given) else {
        return is_given;
    };
    let switches = |text: &str| {
        let lower = unescaped(text).to_lowercase();
        let mut variables = host.switches.variables.iter();
        let is_named = ["hooks", "enabledplugins"]
            .iter()
            .any(|key| lower.contains(key));
        is_named || variables.any(|name| lower.contains(&name.to_lowercase()))
    };
    if value.text.trim_start().starts_with('{') {
        return value.dynamic || switches(&value.text);
    }
    let path = invocation.path_of(&value.text);
    let is_written = |effect: &PathEffect| effect.path == path;
    value.dynamic
        || invocation.analysis.writes().iter().any(is_written)
        || search::read(&path).is_none_or(|text| switches(&text))
}

/// Returns the host whose package a script lies in, by the path of the script or the name of the package.
fn host_of_package(script: &str) -> Option<&'static Host> {
    if let Some(host) = host_of_version(script) {
        return Some(host);
    }
    let names: Vec<&str> = script.trim_start_matches("npm:").split('/').collect();
    let last = names.len() - 1;
    names.iter().enumerate().find_map(|(at, name)| {
        let above = at.checked_sub(1).and_then(|above| names.get(above));
        let is_package = above.is_some_and(|dir| *dir == "node_modules" || dir.starts_with('@'));
        let name = program_name(name);
        let host = Host::agent_of(&name)?;
        // A folder that is only called like the program may hold anything.
        let means_it = is_package || at == last || !host.programs.contains(&&*name);
        means_it.then_some(host)
    })
}

/// Returns the host whose programs lie in a folder of its versions, each under its number: `claude/versions/2.1.329`.
fn host_of_version(path: &str) -> Option<&'static Host> {
    let mut above = path.rsplit('/').skip(1);
    let is_version = above.next() == Some("versions");
    Host::agent_of(above.next().filter(|_| is_version)?)
}

/// Returns a text with its JSON escapes of ASCII characters read: `\u0075` is `u`.
pub(super) fn unescaped(text: &str) -> String {
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
