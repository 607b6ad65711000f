//! Unseen: code that only shows when it runs, judged by what it is made of.

use std::ops::Range;

use super::found::{Found, act, on};
use super::judged::Judged;
use super::spelling::named;
use super::{code, mention};
use crate::glob::shell_glob;
use crate::program::Fact;
use crate::shell::{Effect, PathEffect, Stdin, Word, lexical};
use crate::words::words;

/// Finds a program that runs what this line makes, where what it is made of names what is guarded.
pub(super) fn find(invocation: &Judged<'_>) -> Option<Found> {
    if invocation.remote {
        return None;
    }
    let made_of = invocation.makers(&sources(invocation)?);
    let guarded = invocation.guarded;
    // What is followed is judged by its commands; a text in them that only looks like a pattern of names is none.
    let is_known = runs_followed(invocation);
    made_of.iter().find_map(|one| {
        let one = invocation.other(one);
        let redirects = one.redirects.iter().filter(|r| r.operator == "<<<");
        let variables = one.environment.iter().map(|(_, value)| value);
        let words = variables.chain(redirects.map(|r| &r.target));
        let words = words.map(|word| word.text.as_str());
        let mut texts = one.texts().chain(words).chain(one.stdin.text());
        texts.find_map(|text| {
            let hit = if is_known {
                named(text).map(|name| lexical(name, guarded.root(), guarded.home()))
            } else {
                one.in_text(text)
            };
            let disarms = || mention::disarms(text);
            hit.map(|hit| on("run what may change {}", hit))
                .or_else(|| {
                    disarms().then(|| act("run what may be a command that disarms the policy"))
                })
        })
    })
}

/// Finds code that starts one of our commands which only a person gives.
pub(super) fn by_code(invocation: &Judged<'_>) -> Option<Found> {
    if !code::is_interpreter(invocation) {
        return None;
    }
    let words = invocation
        .texts()
        .filter(|text| text.contains(['(', ' ', '\n']));
    let mut texts = words.chain(invocation.stdin.text());
    texts.find(|text| mention::disarms(text) && starts_programs(text))?;
    Some(act("run code that may disarm the policy"))
}

/// Whether code holds the name of a call that starts programs.
fn starts_programs(code: &str) -> bool {
    let lower = code.to_lowercase();
    let starts = words!("code-that-starts-programs").iter();
    let by_pipe = ["| getline", "| \""].iter();
    starts.chain(by_pipe).any(|name| lower.contains(name))
}

/// Returns which invocations make the code that a program runs, where that code is not known.
fn sources(invocation: &Judged<'_>) -> Option<Range<usize>> {
    let known = invocation.own();
    let is_piped = matches!(invocation.stdin, Stdin::Pipe);
    let line = || Some(0..invocation.analysis.invocations.len());
    let fed = || match &invocation.stdin {
        // A pipe that has a name is a file, too: `sh < f & echo … > f`.
        Stdin::File(file) if is_written(invocation, file) => line(),
        _ => (is_piped && !invocation.fed_by.is_empty()).then(|| invocation.fed_by.clone()),
    };
    let reads_script = matches!(invocation.program.as_str(), "source" | ".");
    if invocation.program == "eval" {
        return fed();
    }
    if known.is(Fact::Shell) || known.is(Fact::Language) || reads_script {
        if code::takes_code(invocation) {
            return fed();
        }
        return match invocation.operands().next() {
            Some(script) if is_descriptor(&script.text) => line(),
            Some(script) if !script.made_by.is_empty() => Some(script.made_by.clone()),
            Some(script) if is_copied(invocation, script) => None,
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

/// Whether a file is one that the shell has opened.
fn is_descriptor(file: &str) -> bool {
    file.starts_with("/dev/fd/") || file.starts_with("/proc/self/fd/") || file == "/dev/stdin"
}

/// Whether a program runs a file that this line writes once and whose commands are known, so that they are among its own.
fn runs_followed(invocation: &Judged<'_>) -> bool {
    let script = invocation.operands().next().unwrap_or(&invocation.path);
    let path = invocation.path_of(&script.text);
    let own = invocation.path_of(&invocation.path.text);
    let followed = invocation.analysis.followed.iter();
    let mut followed = followed.filter(|file| **file == path || **file == own);
    let effects = invocation.analysis.writes();
    // A second name would be a way to write it unseen.
    let has_links = invocation
        .all()
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

/// Whether all that this line writes to a file is a copy of another, which it does not write: what that says is judged as the
/// script.
fn is_copied(invocation: &Judged<'_>, file: &Word) -> bool {
    let path = invocation.path_of(&file.text);
    let copies = invocation.all().filter(|i| {
        let copy = invocation.other(i);
        let operands: Vec<&Word> = i.operands().collect();
        matches!((i.program.as_str(), &*operands), ("cp", [source, target])
            if copy.path_of(&target.text) == path && !source.dynamic && !is_written(&copy, source))
    });
    let effects = invocation.analysis.writes();
    let written = effects
        .iter()
        .filter(|effect| effect.path == path || effect.inexact);
    let (copies, written) = (copies.count(), written.count());
    copies > 0 && copies == written
}

/// Whether a file is written by this very line.
fn is_written(invocation: &Judged<'_>, file: &Word) -> bool {
    let path = invocation.path_of(&file.text);
    let mut writes = invocation.analysis.writes().into_iter();
    writes.any(|effect| effect.path == path || (effect.inexact && effect.path.starts_with(&path)))
}
