//! Unseen: code that only shows when it runs, judged by what it is made of.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::found::{Found, act};
use super::judged::Judged;
use super::mention;
use super::spelling::named;
use crate::glob::shell_glob;
use crate::program;
use crate::program::Fact;
use crate::shell::{Effect, Invocation, PathEffect, Stdin, Word, lexical};

/// Finds a program that runs what this line makes, where what it is made of names what is guarded.
pub(super) fn find(invocation: &Judged<'_>) -> Option<Found> {
    if invocation.remote {
        return None;
    }
    let sources = sources(invocation)?;
    let made_of = invocation.analysis.invocations.get(sources)?;
    // What is followed is judged by its commands; a text in them that only looks like a pattern of names is none.
    let is_known = runs_followed(invocation);
    let hit = made_of.iter().find_map(|one| {
        let redirects = one.redirects.iter().filter(|r| r.operator == "<<<");
        let variables = one.environment.iter().map(|(_, value)| value);
        let words = one.arguments.iter().chain(variables);
        words
            .map(|word| word.text.as_str())
            .chain(redirects.map(|r| r.target.text.as_str()))
            .chain(one.stdin.text())
            .find_map(|text| {
                let disarms = || mention::disarms(text).then(PathBuf::new);
                let hit = if is_known {
                    named(text).map(|name| {
                        lexical(name, invocation.guarded.root(), invocation.guarded.home())
                    })
                } else {
                    invocation.other(one).in_text(text)
                };
                hit.or_else(disarms)
            })
    })?;
    let path = (!hit.as_os_str().is_empty()).then_some(hit);
    let what = path.as_ref().map_or_else(
        || "run what may be a command that disarms the policy".to_owned(),
        |path| format!("run what may change `{}`", path.display()),
    );
    Some((what, path))
}

/// Finds code that starts one of our commands which only a person gives.
pub(super) fn by_code(invocation: &Invocation) -> Option<Found> {
    let known = program::find(&invocation.program);
    if !known.is(Fact::Language) && !known.is(Fact::Console) {
        return None;
    }
    let words = invocation.arguments.iter().map(|word| word.text.as_str());
    let mut texts = words
        .filter(|text| text.contains(['(', ' ', '\n']))
        .chain(invocation.stdin.text());
    texts.find(|text| mention::disarms(text) && starts_programs(text))?;
    Some(act("run code that may disarm the policy"))
}

/// Whether code holds the name of a call that starts programs.
fn starts_programs(code: &str) -> bool {
    let lower = code.to_lowercase();
    [
        "exec",
        "spawn",
        "system",
        "popen",
        "call",
        "run",
        "`",
        "!",
        "| getline",
        "| \"",
        "output(",
    ]
    .iter()
    .any(|name| lower.contains(name))
}

/// Returns which invocations make the code that a program runs, where that code is not known.
fn sources(invocation: &Judged<'_>) -> Option<Range<usize>> {
    let known = program::find(&invocation.program);
    let is_piped = matches!(invocation.stdin, Stdin::Pipe);
    let fed = || (is_piped && !invocation.fed_by.is_empty()).then(|| invocation.fed_by.clone());
    let line = || Some(0..invocation.analysis.invocations.len());
    let reads_script = matches!(invocation.program.as_str(), "source" | ".");
    if invocation.program == "eval" {
        return fed();
    }
    if known.is(Fact::Shell) || known.is(Fact::Language) || reads_script {
        let takes_code = invocation
            .arguments
            .iter()
            .take_while(|word| word.text.starts_with(['-', '+']))
            .any(|word| is_code_option(known, &word.text));
        if takes_code {
            return fed();
        }
        return match invocation.operands().next() {
            Some(script) if is_descriptor(&script.text) => line(),
            Some(script) if !script.made_by.is_empty() => Some(script.made_by.clone()),
            Some(script) if is_written(invocation, script) => line(),
            Some(script) if script.text != "-" => None,
            _ => fed(),
        };
    }
    let runs_input = matches!(
        invocation.program.as_str(),
        "at" | "batch" | "crontab" | "parallel"
    ) || (known.lines(Fact::Runs).any(|line| line.contains(" opens"))
        && invocation.operands().next().is_none());
    if runs_input {
        return fed();
    }
    let is_made = invocation.path.text.contains('/') && is_written(invocation, &invocation.path);
    is_made.then(line).flatten()
}

fn is_code_option(known: program::Program, option: &str) -> bool {
    if known.is(Fact::Shell) {
        return !option.starts_with("--") && option.contains('c') || option == "--command";
    }
    known.words(Fact::Code).any(|code| {
        option == code
            || (code.len() == 2
                && !option.starts_with("--")
                && code.get(1..).is_some_and(|letter| option.ends_with(letter)))
    })
}

/// Whether a file is one that the shell has opened.
fn is_descriptor(file: &str) -> bool {
    file.starts_with("/dev/fd/") || file.starts_with("/proc/self/fd/") || file == "/dev/stdin"
}

/// Whether a program runs a file that this line writes once and whose commands are known, so that they are among its own.
fn runs_followed(invocation: &Judged<'_>) -> bool {
    let script = invocation.operands().next().unwrap_or(&invocation.path);
    let path = place_of(invocation, script);
    let own = place_of(invocation, &invocation.path);
    let followed = invocation.analysis.followed.iter();
    let mut followed = followed.filter(|file| **file == path || **file == own);
    let effects = invocation.analysis.writes();
    // A second name would be a way to write it unseen.
    let has_links = invocation
        .analysis
        .invocations
        .iter()
        .any(|i| matches!(i.program.as_str(), "ln" | "link" | "mount"));
    followed.next().is_some_and(|file| {
        let changes = |effect: &&PathEffect| {
            let is_pattern = || {
                let pattern = effect.path.to_string_lossy();
                shell_glob(pattern.as_ref(), file.to_string_lossy().as_ref())
            };
            !matches!(effect.effect, Effect::Delete | Effect::Rights)
                && (effect.path == *file
                    || effect.recursive && file.starts_with(&effect.path)
                    || effect.inexact && is_pattern())
        };
        !has_links && effects.iter().filter(changes).count() == 1
    })
}

fn place_of(invocation: &Judged<'_>, file: &Word) -> PathBuf {
    let dir = invocation.work_dir.as_deref();
    let home = invocation.analysis.surroundings.home.as_deref();
    lexical(&file.text, dir.unwrap_or_else(|| Path::new("")), home)
}

/// Whether a file is written by this very line.
fn is_written(invocation: &Judged<'_>, file: &Word) -> bool {
    let path = place_of(invocation, file);
    let mut writes = invocation.analysis.writes().into_iter();
    writes.any(|effect| effect.path == path || (effect.inexact && effect.path.starts_with(&path)))
}
