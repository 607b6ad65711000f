//! Answers of an agent to signals: only to those of its own session, and of no other project.

use std::path::Path;

use serde_json::Value;

use super::binary;
use super::found::{Attempt, act};
use crate::fact::Facts;
use crate::shell::Invocation;

/// The options of `ahp respond` behind which a value stands.
const WITH_VALUE: &[&str] = &["--by", "--details", "--format", "--note"];

/// Finds a command of ours that would answer what another session was told, or what cannot be told yet.
pub(super) fn find(facts: &Facts, root: &Path) -> Option<Attempt> {
    let shell = facts.shell()?;
    let mut is_first = true;
    shell.invocations.iter().find_map(|invocation| {
        let is_ours = binary::is_named(&invocation.program);
        let what = || of_another(facts, root, invocation, is_first);
        let what = is_ours.then(what).flatten();
        is_first &= is_ours || invocation.program == "cd";
        Some(Attempt::of(invocation.display(), act(what?)))
    })
}

fn of_another(
    facts: &Facts,
    root: &Path,
    invocation: &Invocation,
    is_first: bool,
) -> Option<&'static str> {
    let command = invocation.operands().find(|w| !is_format(&w.text))?;
    let has = |text: &str| invocation.arguments.iter().any(|w| w.text == text);
    if command.text != "respond" || has("--help") || has("-h") {
        return None;
    }
    let is_here = |dir: &Path| {
        let real = |path: &Path| path.canonicalize().ok();
        let both = || real(dir).zip(real(root));
        dir.starts_with(root) || both().is_some_and(|(dir, root)| dir.starts_with(root))
    };
    let names_log = |text: &str| text.split('=').next() == Some("--log");
    if !invocation.work_dir.as_deref().is_some_and(is_here)
        || invocation.arguments.iter().any(|w| names_log(&w.text))
    {
        return Some("answer signals of another log");
    }
    let selectors = if has("--stdin") {
        let told = |text: &str| serde_json::from_str::<Value>(text).ok();
        let told = invocation.stdin.text().and_then(told);
        told.and_then(|told| Some(vec![told.get("signal_id")?.as_str()?.to_owned()]))
    } else {
        named(invocation)
    };
    let Some(selectors) = selectors else {
        return Some("answer a signal that it does not name in plain words");
    };
    let own = facts.event().session_id.as_deref();
    selectors.iter().find_map(|selector| {
        let is_last = selector == "last";
        // While something else runs, another session may be told something.
        if is_last && !is_first {
            return Some("answer by `last` after other commands, when it may mean another session's signal: name its id");
        }
        let sessions = facts.history().sessions_meant(selector)?;
        if sessions.is_empty() && !is_last {
            return Some("answer a signal that is not there, or one of several");
        }
        let is_other = |told: &Option<String>| told.is_some() && told.as_deref() != own;
        let is_others = sessions.iter().any(is_other);
        is_others.then_some("answer what another session was told")
    })
}

/// The value of `--format` may stand before the command.
fn is_format(text: &str) -> bool {
    matches!(text, "json" | "human")
}

/// Returns the words that may name the signal; none where one is known only when it runs.
fn named(invocation: &Invocation) -> Option<Vec<String>> {
    let mut words = invocation.arguments.iter();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        if word.dynamic || !word.made_by.is_empty() || word.each {
            return None;
        }
        if WITH_VALUE.contains(&word.text.as_str()) {
            words.next();
        } else if !word.is_option() {
            found.push(word.text.clone());
        }
    }
    // The first is the command.
    Some(found.split_off(found.len().min(1)))
}
